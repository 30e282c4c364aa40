package pods

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/test/cluster"
)

// slow is how long anything may take here that takes a minute on an idle
// machine. No test waits for it to pass.
const slow = 8 * time.Minute

var config = cluster.Config{Instance: "pods", Fresh: again == "", Log: func(line string) { fmt.Fprintln(os.Stderr, line) }}

func TestMain(m *testing.M) {
	code := m.Run()
	stopKeeping()
	if site != nil && site.Env.Ours() && again == "" {
		ctx, cancel := context.WithTimeout(context.Background(), downMax)
		defer cancel()
		if err := last(ctx, code == 0); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
		if err := cluster.Down(ctx, config); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// downMax bounds what is done after the last test.
const downMax = 6 * time.Minute

// last is what can only be said when all tests have run: what they showed of the
// operator's roles, and that it can be taken away without a trace. Uninstalling
// needs that the tests have deleted what they declared.
func last(ctx context.Context, passed bool) error {
	everything := passed && flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.skip").Value.String() == ""
	if err := site.roles(everything); err != nil {
		return fmt.Errorf("--- FAIL: roles: %w", err)
	}
	if !passed {
		return nil
	}
	if err := site.uninstall(ctx, inventory); err != nil {
		return fmt.Errorf("--- FAIL: uninstalling: %w", err)
	}
	return nil
}

var site *Site

// stopKeeping ends what sees to the control plane while tests run.
var stopKeeping = func() {}

// inventory is what was in Kubernetes before the operator was installed.
var inventory []string

// setUp brings a cluster up and installs the operator, once.
var setUp = sync.OnceValue(func() error {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Minute) // builds Kubernetes the first time
	defer cancel()
	env, err := cluster.Up(ctx, config)
	if err != nil {
		return err
	}
	s, err := New(env)
	if err != nil {
		return errors.Join(err, cluster.Down(ctx, config))
	}
	site = s
	keeping, stop := context.WithCancel(context.Background())
	var kept sync.WaitGroup
	kept.Go(func() { env.Keep(keeping) })
	stopKeeping = func() { stop(); kept.Wait() }
	if inventory, err = s.inventory(ctx, notOfTests); err != nil {
		return err
	}
	return s.Install(ctx)
})

// begin returns the site and a namespace of the test's own, and tells everything
// about it when the test fails.
func begin(t *testing.T, namespace string) *Site {
	t.Helper()
	must(t, setUp())
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(site.Account(context.WithoutCancel(t.Context()), namespace))
		}
	})
	return site
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func create(t *testing.T, s *Site, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		must(t, s.Client.Create(t.Context(), o))
	}
}
