package program

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gluster/anthill/test/await"
)

// fakeCheckout has a test/kube whose "kubernetes" is a module beside it.
func fakeCheckout(t *testing.T, source string) string {
	t.Helper()
	root := t.TempDir()
	files := map[string]string{
		"test/kube/go.mod":                          "module kube\n\ngo 1.26\n\nrequire (\n\tk8s.io/kubernetes v1.2.3\n)\n\nreplace k8s.io/kubernetes => ./fake\n",
		"test/kube/fake/go.mod":                     "module k8s.io/kubernetes\n\ngo 1.26\n",
		"test/kube/fake/cmd/kube-apiserver/main.go": source,
	}
	for name, text := range files {
		path := filepath.Join(root, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return root
}

func TestBuildOnceForAll(t *testing.T) {
	cache := t.TempDir()
	t.Setenv(cacheVariable, cache)
	p := Kube(fakeCheckout(t, "package main\n\nfunc main() { println(\"built\") }\n"), "kube-apiserver")

	var mu sync.Mutex
	var lines []string
	logf := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, fmt.Sprintf(format, args...))
	}
	var jobs []func(context.Context) error
	for range 4 {
		jobs = append(jobs, func(ctx context.Context) error { return p.Build(ctx, logf) })
	}
	must(t, await.All(t.Context(), jobs))
	if len(lines) != 2 {
		t.Errorf("four programs that want it said %q, want one to build", lines)
	}
	if want := filepath.Join(cache, "kube-apiserver-v1.2.3", "kube-apiserver"); p.Path() != want {
		t.Errorf("built to %q, want %q", p.Path(), want)
	}
	if out, err := exec.Command(p.Path()).CombinedOutput(); err != nil || string(out) != "built\n" {
		t.Errorf("what was built says %q, %v", out, err)
	}
}

func TestFailedBuildLeavesNothing(t *testing.T) {
	cache := t.TempDir()
	t.Setenv(cacheVariable, cache)
	p := Kube(fakeCheckout(t, "package main\n\nfunc main() { undefinedThing() }\n"), "kube-apiserver")
	err := p.Build(t.Context(), func(string, ...any) {})
	if err == nil || !strings.Contains(err.Error(), "undefinedThing") {
		t.Errorf("error %v, want what the compiler said", err)
	}
	left, err := filepath.Glob(filepath.Join(cache, "*"))
	must(t, err)
	for _, f := range left {
		if !strings.HasSuffix(f, ".lock") {
			t.Errorf("a failed build left %q", f)
		}
	}
}

func TestVersionsArePinned(t *testing.T) {
	checkout, err := filepath.Abs("../..")
	must(t, err)
	all := []Program{Containerd, Runc, CNI, CoreDNS}
	for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy", "kubelet", "kubectl"} {
		all = append(all, Kube(checkout, name))
	}
	seen := map[string]bool{}
	for _, p := range all {
		if v, err := p.Version(); err != nil || !strings.HasPrefix(v, "v") {
			t.Errorf("version of %s: %q, %v", p.Name, v, err)
		}
		if dir := p.Dir(); dir == "" || seen[dir] {
			t.Errorf("%s is kept in %q: want a folder of its own", p.Name, dir)
		}
		seen[p.Dir()] = true
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
