package kube

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// names lists objects without content; it counts how often.
type names struct {
	client.Reader
	of    map[string][]metav1.PartialObjectMetadata // by kind
	lists int
	err   error
}

func (n *names) List(_ context.Context, l client.ObjectList, _ ...client.ListOption) error {
	n.lists++
	p, ok := l.(*metav1.PartialObjectMetadataList)
	if !ok {
		return errors.New("more than names is asked for")
	}
	p.Items = n.of[p.Kind]
	return n.err
}

func TestLandscape(t *testing.T) {
	thing := func(name, zone string) metav1.PartialObjectMetadata {
		return metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"zone": zone}}}
	}
	api := &names{of: map[string][]metav1.PartialObjectMetadata{
		"NodeList":         {thing("h1", "a"), thing("h2", "a"), thing("h3", "b")},
		"StorageClassList": {thing("slow", ""), thing("fast", "")},
	}}
	now := time.Unix(1000, 0)
	l := &Landscape{Live: api, Now: func() time.Time { return now }}
	for range 3 {
		if d := cmp.Diff([]string{"fast", "slow"}, l.Classes(t.Context())); d != "" {
			t.Errorf("classes: %s", d)
		}
		if n, known := l.Hosts(t.Context(), required(expression("zone", corev1.NodeSelectorOpIn, "a"))); n != 2 || !known {
			t.Errorf("%d hosts, known %v", n, known)
		}
	}
	if api.lists != 2 {
		t.Errorf("%d lists, want one of each kind", api.lists)
	}
	now = now.Add(landscapeMax)
	api.err = errors.New("forbidden")
	if c := l.Classes(t.Context()); c != nil {
		t.Errorf("classes %v of somebody who may not look", c)
	}
	if _, known := l.Hosts(t.Context(), nil); known {
		t.Error("hosts are known to somebody who may not look")
	}
}

func required(terms ...corev1.NodeSelectorTerm) *corev1.NodeAffinity {
	return &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms}}
}

func expression(key string, op corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorTerm {
	return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: op, Values: values}}}
}

func TestSelects(t *testing.T) {
	field := corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{"h1"}}}}
	cases := map[string]struct {
		reason string
		a      *corev1.NodeAffinity
		want   bool
	}{
		"None":      {"nothing is required", nil, true},
		"Preferred": {"a preference requires nothing", &corev1.NodeAffinity{}, true},
		"NoTerm":    {"no term holds", required(), false},
		"EmptyTerm": {"an empty term selects nothing", required(corev1.NodeSelectorTerm{}), false},
		"In":        {"the label is one of these", required(expression("zone", corev1.NodeSelectorOpIn, "a", "b")), true},
		"NotIn":     {"it is one of these", required(expression("zone", corev1.NodeSelectorOpNotIn, "a")), false},
		"Exists":    {"it is there", required(expression("zone", corev1.NodeSelectorOpExists)), true},
		"Absent":    {"it is there", required(expression("zone", corev1.NodeSelectorOpDoesNotExist)), false},
		"Gt":        {"numbers are compared", required(expression("disks", corev1.NodeSelectorOpGt, "3")), true},
		"Lt":        {"numbers are compared", required(expression("disks", corev1.NodeSelectorOpLt, "3")), false},
		"Either":    {"one term is enough", required(expression("zone", corev1.NodeSelectorOpIn, "x"), expression("zone", corev1.NodeSelectorOpIn, "a")), true},
		"Name":      {"the field of the name", required(field), true},
		"Nonsense":  {"it selects nothing", required(expression("zone", "Like", "a")), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := selects(tc.a, "h1", map[string]string{"zone": "a", "disks": "4"}); got != tc.want {
				t.Errorf("%s: %v", tc.reason, got)
			}
		})
	}
}
