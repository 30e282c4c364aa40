package api

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestSamples applies every documented sample, and checks that they belong
// together: what they name, they declare.
func TestSamples(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "docs/samples/*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples found: %v", err)
	}
	readme, err := os.ReadFile(filepath.Join(root, "docs/samples/README.md"))
	if err != nil {
		t.Fatal(err)
	}
	kinds, ofDemo := map[string]int{}, 0
	declared, named := map[string]bool{}, map[string]bool{}
	for _, file := range files {
		if !strings.Contains(string(readme), "("+filepath.Base(file)+")") {
			t.Errorf("the README does not tell of %s", filepath.Base(file))
		}
		list, err := readObjects(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range list {
			o.SetNamespace(namespace)
			created(t, o)
			kinds[o.GetKind()]++
			declared[o.GetKind()+"/"+o.GetName()] = true
			if o.GetKind() == "GlusterNode" && lookup(o.Object, "spec", "cluster") == "demo" {
				ofDemo++
			}
			for path, kind := range map[string]string{
				"spec.cluster":                     "GlusterCluster",
				"spec.external.ssh.secretRef.name": "Secret",
			} {
				if name, ok := lookup(o.Object, strings.Split(path, ".")...).(string); ok {
					named[kind+"/"+name] = true
				}
			}
		}
	}
	for object := range named {
		if !declared[object] {
			t.Errorf("the samples name %s but do not declare it", object)
		}
	}
	if kinds["GlusterCluster"] < 3 || kinds["GlusterNode"] < 5 || kinds["GlusterVolume"] < 1 {
		t.Errorf("the samples declare %v: want clusters of servers, of pods and of disks, with nodes and volumes", kinds)
	}

	nodes, err := objects.list(t.Context(), schema.FromAPIVersionAndKind(groupVersion, "GlusterNode"), "spec.cluster=demo")
	if err != nil {
		t.Fatalf("selecting nodes by their cluster: %v", err)
	}
	if len(nodes) != ofDemo || ofDemo < 3 {
		t.Errorf("%d nodes selected by spec.cluster=demo, want %d, at least 3", len(nodes), ofDemo)
	}
	none, err := objects.list(t.Context(), schema.FromAPIVersionAndKind(groupVersion, "GlusterVolume"), "spec.cluster=other")
	if err != nil || len(none) != 0 {
		t.Errorf("volumes of another cluster: %d, %v; want none", len(none), err)
	}
}

// lookup is the value at a path of map keys, nil if there is none.
func lookup(value any, path ...string) any {
	for _, key := range path {
		m, _ := value.(map[string]any)
		value = m[key]
	}
	return value
}
