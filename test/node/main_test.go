package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/gluster/anthill/test/local"
	"github.com/gluster/anthill/test/rig"
)

// slow is how long anything may take here that takes seconds on an idle machine.
const slow = 2 * time.Minute

var config = local.Config{
	Instance: "node", Servers: 3, Bricks: 1, Fresh: true, Log: func(line string) { fmt.Fprintln(os.Stderr, line) },
}

func TestMain(m *testing.M) {
	code := m.Run()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := local.Down(ctx, config); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// world is what the tests share.
type world struct {
	env    *local.Env
	binary string // anthill, on the host
}

var setUp = sync.OnceValues(func() (*world, error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("these tests make namespaces, mounts and loop devices: run them as root")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	env, err := local.Up(ctx, config)
	if err != nil {
		return nil, err
	}
	checkout, err := filepath.Abs("../..")
	if err != nil {
		return nil, err
	}
	binary, err := rig.Build(ctx, checkout, filepath.Join(env.Dir(), "bin"))
	return &world{env: env, binary: binary}, err
})

// pods makes every server the host of one pod with a device d1.
func pods(t *testing.T) []*pod {
	t.Helper()
	w, err := setUp()
	if err != nil {
		t.Fatal(err)
	}
	var out []*pod
	for _, s := range w.env.Servers() {
		out = append(out, newPod(t, w, s))
	}
	return out
}

// until waits for what something else makes true.
func until(t *testing.T, what string, probe func() error) {
	t.Helper()
	deadline := time.Now().Add(slow)
	for {
		err := probe()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s: %v", what, err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}
