package crash

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/gluster/anthill/test/local"
	"github.com/gluster/anthill/test/rig"
)

// The environment of this package, made by the first test that needs it.
var environment struct {
	once    sync.Once // etcd, kube-apiserver, the binary
	servers sync.Once // real servers in addition
	env     *local.Env
	rig     *rig.Rig
	binary  string
	newer   string // the same operator with another gate beside it
	err     error
}

// serversCount is how many real servers there are.
const serversCount = 5

// config names the environment: ANTHILL_TEST_INSTANCE=name runs beside another
// run of these tests.
func config(servers int) local.Config {
	return local.Config{Instance: cmp.Or(os.Getenv("ANTHILL_TEST_INSTANCE"), "crash"), Servers: servers, APIServer: true}
}

func TestMain(m *testing.M) {
	code := m.Run()
	if environment.env != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		if err := environment.env.Down(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "test/crash: taking the environment down:", err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// api returns the rig on an API server without servers.
func api(t *testing.T) *rig.Rig {
	t.Helper()
	e := &environment
	e.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
		defer cancel()
		cfg := config(0)
		cfg.Fresh = true
		if e.env, e.err = local.Up(ctx, cfg); e.err != nil {
			return
		}
		checkout, err := filepath.Abs("../..")
		if err != nil {
			e.err = err
			return
		}
		if e.binary, e.err = rig.Build(ctx, checkout, filepath.Join(e.env.Dir(), "bin")); e.err != nil {
			return
		}
		if e.newer, e.err = withNewerGate(e.binary); e.err != nil {
			return
		}
		e.rig, e.err = rig.New(ctx, e.env, checkout, e.binary, "operator")
	})
	if e.err != nil {
		t.Fatal(e.err)
	}
	return e.rig
}

// withServers returns the rig on an API server with real servers.
func withServers(t *testing.T) *rig.Rig {
	t.Helper()
	r := api(t)
	e := &environment
	e.servers.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
		defer cancel()
		var env *local.Env
		if env, e.err = local.Up(ctx, config(serversCount)); e.err == nil {
			e.env, e.rig.Env = env, env
		}
	})
	if e.err != nil {
		t.Fatal(e.err)
	}
	return r
}

// within bounds what a test waits for.
func within(t *testing.T, max time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), max, fmt.Errorf("the test took more than %v", max))
	t.Cleanup(cancel)
	return ctx
}

// must fails the test for an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// explain has the operator's log and journal printed if the test fails.
func explain(t *testing.T, o *rig.Operator) {
	t.Helper()
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(o.Account(context.WithoutCancel(t.Context())))
		}
	})
}

// withNewerGate copies the operator to a folder with a gate of another digest.
func withNewerGate(binary string) (string, error) {
	dir := filepath.Join(filepath.Dir(binary), "newer")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	for name, more := range map[string]string{"anthill": "", "anthill-gate": "\n"} {
		data, err := os.ReadFile(filepath.Join(filepath.Dir(binary), name))
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(dir, name), append(data, more...), 0o755); err != nil {
			return "", err
		}
	}
	return filepath.Join(dir, "anthill"), nil
}
