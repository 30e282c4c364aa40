package image

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// dockerfile returns the instructions of a Dockerfile, by their first word.
func dockerfile(t *testing.T, name string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../deploy/images", name, "Dockerfile"))
	must(t, err)
	out := map[string]string{}
	for line := range strings.Lines(strings.ReplaceAll(string(data), "\\\n", " ")) {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if verb != "" && verb != "#" {
			out[verb] += rest
		}
	}
	return out
}

func TestDockerfilesSayTheSame(t *testing.T) {
	own := Layer{Digest: "own"}
	node := Image{Entrypoint: []string{anthillPath}, Cmd: []string{"node", "run"}}
	cases := map[string]struct {
		from  string
		image Image
	}{
		"node":     {from: "debian:${SUITE}-slim", image: node},
		"operator": {from: "scratch", image: Operator(own)},
	}
	for name, tc := range cases {
		got := dockerfile(t, name)
		var entrypoint, command []string
		must(t, json.Unmarshal([]byte(got["ENTRYPOINT"]), &entrypoint))
		must(t, json.Unmarshal([]byte(got["CMD"]), &command))
		if got["FROM"] != tc.from || got["USER"] != tc.image.User {
			t.Errorf("%s: FROM %q, USER %q; want %q, %q", name, got["FROM"], got["USER"], tc.from, tc.image.User)
		}
		if diff := cmp.Diff(tc.image.Entrypoint, entrypoint) + cmp.Diff(tc.image.Cmd, command); diff != "" {
			t.Errorf("%s: how it starts differs (-test/image +Dockerfile):\n%s", name, diff)
		}
		if want := "bin/anthill bin/anthill-gate " + filepath.Dir(anthillPath) + "/"; got["COPY"] != want {
			t.Errorf("%s: copies %q, want %q", name, got["COPY"], want)
		}
	}
	packages := strings.Fields(dockerfile(t, "node")["RUN"])
	for _, p := range nodePackages {
		if !slices.Contains(packages, p) {
			t.Errorf("the node's Dockerfile does not install %s", p)
		}
	}
	install := slices.Index(packages, "--no-install-recommends") + 1
	if end := slices.Index(packages[install:], "&&"); end != len(nodePackages) {
		t.Errorf("the node's Dockerfile installs %q, test/image %q", packages[install:install+end], nodePackages)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
