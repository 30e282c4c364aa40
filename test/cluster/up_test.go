package cluster

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gluster/anthill/test/local"
)

// TestKilledUpIsCleanedUp kills the program that brings a cluster up, at moments
// when more and more of it is there.
func TestKilledUpIsCleanedUp(t *testing.T) {
	needRoot(t)
	t.Setenv(kubeconfigVariable, "")
	cases := map[string]struct {
		reason string
		seen   string // below the environment's folder
	}{
		"APIServer": {"nothing of this package is there", "kubeconfig"},
		"Movable":   {"a file system of claims without a node", "movable.img"},
		"Node":      {"a machine whose parts were not started", "machines/n1/root/etc/containerd/config.toml"},
		"Kubelet":   {"a node that is about to be ready", "machines/n1/root/var/log/kubelet.log"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			cfg := Config{Instance: "k-" + strings.ToLower(name), Nodes: 1}
			t.Cleanup(func() { must(t, Down(context.Background(), cfg)) })
			must(t, Down(t.Context(), cfg))
			killUp(t, cfg, tc.seen)
			if len(traces(t, cfg)) == 0 {
				t.Fatal("the killed program left nothing behind: it was not killed in the middle")
			}
			all, err := Status(t.Context(), cfg)
			must(t, err)
			if all[0].Healthy {
				t.Errorf("%s: status says %+v", tc.reason, all[0])
			}
			if _, err := Open(cfg); !errors.Is(err, ErrNotUp) {
				t.Errorf("%s: Open() = %v, want %v", tc.reason, err, ErrNotUp)
			}
			must(t, Down(t.Context(), cfg))
			if left := traces(t, cfg); len(left) > 0 {
				t.Errorf("%s: left behind:\n%s", tc.reason, strings.Join(left, "\n"))
			}
		})
	}
}

// killUp runs a program that brings cfg up and kills it as soon as a file is
// there.
func killUp(t *testing.T, cfg Config, file string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	complete, err := cfg.withDefaults()
	must(t, err)
	prefix, err := complete.local().Hostname("")
	must(t, err)
	id := strings.TrimSuffix(strings.TrimPrefix(prefix, "ah"), "-")
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Env = append(os.Environ(), programVariable+"="+cfg.Instance)
	var said local.Bounded
	cmd.Stderr = &said
	must(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		if _, err := os.Stat(filepath.Join("/var/lib/anthill-local", id, file)); err == nil {
			break
		}
		select {
		case err := <-ended:
			t.Fatalf("the program ended before it could be killed: %v: %s", err, said.Bytes())
		case <-time.After(time.Millisecond):
		}
	}
	must(t, cmd.Process.Kill())
	<-ended
}

// testForeign uses the cluster as somebody else's: what it needs of a cluster
// that KUBECONFIG names is an API server with nodes.
func testForeign(t *testing.T, env *Env) {
	t.Setenv(kubeconfigVariable, env.Kubeconfig())
	theirs, err := Up(t.Context(), Config{Instance: "nothing-of-ours"})
	must(t, err)
	if theirs.Ours() || len(theirs.Nodes()) > 0 {
		t.Errorf("a cluster that KUBECONFIG names is taken for ours: %+v", theirs)
	}
	if got := theirs.Status(t.Context()); len(got) != 1+len(env.Nodes()) || len(sickParts(t.Context(), theirs)) > 0 {
		t.Errorf("status says %+v", got)
	}
	if err := theirs.LoadImages(t.Context()); !errors.Is(err, ErrNotOurs) {
		t.Errorf("LoadImages() = %v, want %v", err, ErrNotOurs)
	}
	ns := namespace(t, theirs, "theirs")
	p := pod(t, theirs, ns, "any", nil, nil, "sleep", "infinity")
	runs(t, theirs, p)
	if out, err := theirs.Exec(t.Context(), p, "gluster", "--version"); err != nil || !strings.HasPrefix(string(out), "glusterfs ") {
		t.Errorf("Exec() = %q, %v", out, err)
	}
	must(t, Down(t.Context(), Config{Instance: env.cfg.Instance}))
	t.Setenv(kubeconfigVariable, "")
	if _, err := Open(Config{Instance: env.cfg.Instance}); err != nil {
		t.Errorf("Down() with KUBECONFIG took ours down: %v", err)
	}
}
