package e2e

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

// servers is how many there are: three for the pool that tests share, three to
// be used up.
const servers = 6

// resync is how often the operator looks at a pool of its own accord. Short, so
// that what is done behind its back is soon seen.
const resync = time.Second

// slow is how long anything may take here that takes some seconds on an idle
// machine. No test waits for it to pass.
const slow = 3 * time.Minute

var config = local.Config{
	Instance: "e2e", Servers: servers, Bricks: 2, APIServer: true, Audit: true, Fresh: true,
	Log: func(line string) { fmt.Fprintln(os.Stderr, line) },
}

func TestMain(m *testing.M) {
	code := m.Run()
	if err := tearDown(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// setUp brings environment and operator up, once.
var setUp = sync.OnceValues(func() (*rig.Rig, error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("these tests make namespaces, mounts and loop devices: run them as root")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute) // compiles kube-apiserver the first time
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
	if err != nil {
		return nil, err
	}
	r, err := rig.New(ctx, env, checkout, binary, "operator")
	if err != nil {
		return nil, err
	}
	r.Operator.Args = []string{"--resync", resync.String()}
	if err := r.Operator.Start(); err != nil {
		return nil, err
	}
	up = r
	return r, r.Operator.AwaitReady(ctx)
})

var up *rig.Rig

func tearDown() error {
	if up != nil {
		up.Operator.Stop()
	}
	if os.Geteuid() != 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	return local.Down(ctx, config)
}
