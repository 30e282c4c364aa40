package local

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
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
	p := kubeBinary(apiServerName, fakeCheckout(t, "package main\n\nfunc main() { println(\"built\") }\n"))

	var mu sync.Mutex
	var lines []string
	logf := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, fmt.Sprintf(format, args...))
	}
	var jobs []func(context.Context) error
	for range 4 {
		jobs = append(jobs, func(ctx context.Context) error { return p.build(ctx, logf) })
	}
	must(t, all(t.Context(), jobs))
	if len(lines) != 2 {
		t.Errorf("four programs that want it said %q, want one to build", lines)
	}
	if want := filepath.Join(cache, "kube-apiserver-v1.2.3", "kube-apiserver"); p.path() != want {
		t.Errorf("built to %q, want %q", p.path(), want)
	}
	if out, err := exec.Command(p.path()).CombinedOutput(); err != nil || string(out) != "built\n" {
		t.Errorf("what was built says %q, %v", out, err)
	}
}

func TestFailedBuildLeavesNothing(t *testing.T) {
	cache := t.TempDir()
	t.Setenv(cacheVariable, cache)
	p := kubeBinary(apiServerName, fakeCheckout(t, "package main\n\nfunc main() { undefinedThing() }\n"))
	err := p.build(t.Context(), func(string, ...any) {})
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

func TestVersionsComeFromTestKube(t *testing.T) {
	cfg, err := Config{}.withDefaults()
	must(t, err)
	for _, name := range []string{etcdName, apiServerName, "kubectl"} {
		if v, err := kubeBinary(name, cfg.Checkout).version(); err != nil || !strings.HasPrefix(v, "v") {
			t.Errorf("version of %s: %q, %v", name, v, err)
		}
	}
}
