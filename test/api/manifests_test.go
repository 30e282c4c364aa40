package api

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// root of the checkout, from this folder.
const root = "../.."

// readObjects returns the objects of a YAML file, in order.
func readObjects(file string) ([]*unstructured.Unstructured, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var objects []*unstructured.Unstructured
	for i, doc := range bytes.Split(raw, []byte("\n---\n")) {
		content := map[string]any{}
		if err := yaml.UnmarshalStrict(doc, &content); err != nil {
			return nil, fmt.Errorf("reading document %d of %q: %w", i, file, err)
		}
		if len(content) > 0 {
			objects = append(objects, &unstructured.Unstructured{Object: content})
		}
	}
	return objects, nil
}

// readInstallation returns the objects of one of installations.
func readInstallation(from string) ([]*unstructured.Unstructured, error) {
	read := readObjects
	if filepath.Ext(from) == "" {
		read = readKustomization
	}
	return read(filepath.Join(root, from))
}

// readKustomization returns the objects that a folder's kustomization lists,
// those of listed folders included. It knows nothing but resources; anything
// else is an error, so that what is tested is what kustomize would make. Of what
// needs more `make manifests` makes files.
func readKustomization(dir string) ([]*unstructured.Unstructured, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "kustomization.yaml"))
	if err != nil {
		return nil, err
	}
	var k struct {
		APIVersion string   `json:"apiVersion"`
		Kind       string   `json:"kind"`
		Resources  []string `json:"resources"`
	}
	if err := yaml.UnmarshalStrict(raw, &k); err != nil {
		return nil, fmt.Errorf("reading the kustomization of %q: %w", dir, err)
	}
	var objects []*unstructured.Unstructured
	for _, r := range k.Resources {
		path := filepath.Join(dir, r)
		read := readObjects
		if !strings.HasSuffix(r, ".yaml") {
			read = readKustomization
		}
		more, err := read(path)
		if err != nil {
			return nil, err
		}
		objects = append(objects, more...)
	}
	return objects, nil
}

// merge applies a JSON merge patch (RFC 7386) to a value and returns the
// result; neither is changed, but the result may share parts with both.
func merge(value, patch any) any {
	p, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	out := map[string]any{}
	if v, ok := value.(map[string]any); ok {
		for k := range v {
			out[k] = v[k]
		}
	}
	for k := range p {
		if p[k] == nil {
			delete(out, k)
			continue
		}
		out[k] = merge(out[k], p[k])
	}
	return out
}

// patched is base with a merge patch, written as YAML, applied.
func patched(t *testing.T, base map[string]any, patch string) map[string]any {
	t.Helper()
	var p map[string]any
	if err := yaml.UnmarshalStrict([]byte(patch), &p); err != nil {
		t.Fatalf("reading the patch %q: %v", patch, err)
	}
	if p == nil {
		p = map[string]any{}
	}
	out, ok := merge(base, p).(map[string]any)
	if !ok {
		t.Fatalf("the patch %q does not leave an object", patch)
	}
	return out
}
