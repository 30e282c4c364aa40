package object

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/gluster/anthill/planner"
)

// TestObjects compares what is made of parameters with testdata. A difference in
// a StatefulSet means another planner.podSpecVersion: pods that run would
// otherwise never become what is declared.
func TestObjects(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			first := render(d)
			if second := render(d); second != first {
				t.Errorf("made twice it differs:\n%s", cmp.Diff(first, second))
			}
			return first
		})
	})
}

func render(d *datadriven.TestData) string {
	var out []any
	var err error
	switch d.Cmd {
	case "service":
		var p planner.ServiceParams
		err = yaml.UnmarshalStrict([]byte(d.Input), &p)
		out = append(out, Service("ns", p))
	case "claims":
		var p planner.ClaimsParams
		err = yaml.UnmarshalStrict([]byte(d.Input), &p)
		claims, bad := Claims("ns", "c1", p)
		if bad != nil {
			return bad.Error()
		}
		for _, c := range claims {
			out = append(out, c)
		}
	case "set":
		var p planner.PodParams
		err = yaml.UnmarshalStrict([]byte(d.Input), &p)
		out = append(out, Set("ns", p))
	default:
		return fmt.Sprintf("unknown command %q", d.Cmd)
	}
	if err != nil {
		return err.Error()
	}
	docs := make([]string, len(out))
	for i, o := range out {
		raw, err := yaml.Marshal(o)
		if err != nil {
			return err.Error()
		}
		docs[i] = string(raw)
	}
	return strings.Join(docs, "---\n")
}
