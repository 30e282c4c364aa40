package local_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gluster/anthill/test/local"
	"github.com/gluster/anthill/test/local/writer"
)

// A volume under a writer while one of its servers is killed and brought back.
func Example() {
	ctx := context.Background()
	env, err := local.Up(ctx, local.Config{Instance: "example", Servers: 3, Fresh: true})
	if err != nil {
		log.Fatal(err)
	}
	defer env.Down(ctx)

	first := env.Server(1)
	create := []string{"volume", "create", "v1", "replica", "3"}
	for _, s := range env.Servers() {
		if s != first {
			if _, err := first.Gluster(ctx, "peer", "probe", s.Name()); err != nil {
				log.Fatal(err)
			}
		}
		create = append(create, s.Name()+":"+s.Bricks()[0]+"/brick")
	}
	for _, argv := range [][]string{create, {"volume", "start", "v1"}} {
		if _, err := first.Gluster(ctx, argv...); err != nil {
			log.Fatal(err)
		}
	}
	m, err := env.Mount(ctx, "v1")
	if err != nil {
		log.Fatal(err)
	}
	if err := m.StartWriter(ctx, writer.Config{Seed: 1}); err != nil {
		log.Fatal(err)
	}
	if err := env.Server(2).Kill(ctx); err != nil {
		log.Fatal(err)
	}
	if err := env.Server(2).Start(ctx); err != nil {
		log.Fatal(err)
	}
	report, err := m.StopWriter(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Problem())
}
