package v1alpha1_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/gluster/anthill/apis/v1alpha1"
)

func TestAddToScheme(t *testing.T) {
	s := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{v1alpha1.KindCluster, v1alpha1.KindNode, v1alpha1.KindVolume} {
		for _, k := range []string{kind, kind + "List"} {
			if _, err := s.New(v1alpha1.GroupVersion.WithKind(k)); err != nil {
				t.Errorf("the scheme does not know %s: %v", k, err)
			}
		}
	}
}

func TestVolumeLayout(t *testing.T) {
	type figures struct {
		Kind                             v1alpha1.LayoutKind
		Sets, PerSet, DataPerSet, Bricks int
		Text                             string
	}
	cases := map[string]struct {
		reason string
		layout v1alpha1.VolumeLayout
		want   figures
	}{
		"Replica3": {
			reason: "three copies are three bricks per set",
			layout: v1alpha1.VolumeLayout{Replicate: &v1alpha1.ReplicateLayout{Replica: 3, Sets: 2}},
			want:   figures{v1alpha1.LayoutReplicate, 2, 3, 1, 6, "replicate 2 x 3"},
		},
		"Arbiter": {
			reason: "an arbiter comes on top of the copies",
			layout: v1alpha1.VolumeLayout{Replicate: &v1alpha1.ReplicateLayout{Replica: 2, Arbiter: 1, Sets: 1}},
			want:   figures{v1alpha1.LayoutReplicate, 1, 3, 1, 3, "replicate 1 x (2 + 1)"},
		},
		"Disperse": {
			reason: "redundancy takes bricks but offers no space",
			layout: v1alpha1.VolumeLayout{Disperse: &v1alpha1.DisperseLayout{Data: 4, Redundancy: 2, Sets: 3}},
			want:   figures{v1alpha1.LayoutDisperse, 3, 6, 4, 18, "disperse 3 x (4 + 2)"},
		},
		"Distribute": {
			reason: "every brick is a set of its own",
			layout: v1alpha1.VolumeLayout{Distribute: &v1alpha1.DistributeLayout{Bricks: 5}},
			want:   figures{v1alpha1.LayoutDistribute, 5, 1, 1, 5, "distribute 5"},
		},
		"None": {
			reason: "a layout the API server would refuse has no bricks",
			want:   figures{"", 0, 0, 0, 0, "none"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := &tc.layout
			got := figures{l.Kind(), l.Sets(), l.BricksPerSet(), l.DataBricksPerSet(), l.Bricks(), l.String()}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestDeleteConfirmed(t *testing.T) {
	cases := map[string]struct {
		reason              string
		annotations         map[string]string
		confirmed, mistaken bool
	}{
		"Absent": {reason: "without the annotation nobody asked for anything"},
		"Name":   {"the object's name confirms", map[string]string{v1alpha1.AnnotationConfirmDelete: "v1"}, true, false},
		"Typo":   {"another value is a mistake, never a confirmation", map[string]string{v1alpha1.AnnotationConfirmDelete: "v2"}, false, true},
		"Empty":  {"an empty value is a mistake too", map[string]string{v1alpha1.AnnotationConfirmDelete: ""}, false, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := &v1alpha1.GlusterVolume{ObjectMeta: metav1.ObjectMeta{Name: "v1", Annotations: tc.annotations}}
			if confirmed, mistaken := v.DeleteConfirmed(); confirmed != tc.confirmed || mistaken != tc.mistaken {
				t.Errorf("%s: got (%v, %v), want (%v, %v)", tc.reason, confirmed, mistaken, tc.confirmed, tc.mistaken)
			}
		})
	}
}

func TestExternalServerDefaults(t *testing.T) {
	type ssh struct {
		Host string
		Port int32
		User string
	}
	cases := map[string]struct {
		reason string
		server v1alpha1.ExternalServer
		want   ssh
	}{
		"LeftOut": {
			reason: "a server is reached by its address as root on port 22",
			server: v1alpha1.ExternalServer{Address: "s1"},
			want:   ssh{"s1", 22, "root"},
		},
		"Given": {
			reason: "what is given counts",
			server: v1alpha1.ExternalServer{Address: "s1", SSH: v1alpha1.SSH{Host: "192.0.2.1", Port: 2222, User: "ops"}},
			want:   ssh{"192.0.2.1", 2222, "ops"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ssh{tc.server.SSHHost(), tc.server.SSHPort(), tc.server.SSHUser()}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestFailureDomain(t *testing.T) {
	n := &v1alpha1.GlusterNode{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
	if got := n.FailureDomain(); got != "node/n1" {
		t.Errorf("a node without a zone is a zone of its own: got %q", got)
	}
	n.Spec.Zone = "rack-1"
	if got := n.FailureDomain(); got != "rack-1" {
		t.Errorf("a declared zone counts: got %q", got)
	}
}

// Reasons are an interface: they are matched by scripts. Each is CamelCase,
// named after its constant, unique, and documented.
func TestReasonsAreDocumented(t *testing.T) {
	for file, prefix := range map[string]string{"reasons.go": "Reason", "events.go": "Event"} {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			name := spec.Names[0].Name
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			if name != prefix+value || !regexp.MustCompile(`^([A-Z][a-z]+)+$`).MatchString(value) {
				t.Errorf("%s: %s = %q: want a CamelCase reason named after its constant", file, name, value)
			}
			if !strings.HasPrefix(spec.Doc.Text(), name) {
				t.Errorf("%s: %s has no comment that starts with its name", file, name)
			}
			if seen[value] {
				t.Errorf("%s: %q is there twice", file, value)
			}
			seen[value] = true
			return false
		})
		if len(seen) == 0 {
			t.Errorf("%s: no reasons found", file)
		}
	}
}
