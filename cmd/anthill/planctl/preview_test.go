package planctl

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/cmd/anthill/cli"
	"github.com/gluster/anthill/cmd/anthill/manager"
	"github.com/gluster/anthill/executor/gate"
	"github.com/gluster/anthill/executor/kube"
	"github.com/gluster/anthill/executor/observe"
	"github.com/gluster/anthill/journal/view"
)

// unreachable is a dialer whose servers do not answer.
type unreachable struct{}

func (unreachable) NeedsLogin() bool { return false }
func (unreachable) Server(n *v1alpha1.GlusterNode, _ *kube.Login) (gate.Server, error) {
	return nil, errors.New("no way to " + n.Address())
}

func newPreview(t *testing.T, notes *bytes.Buffer, objects ...client.Object) (*preview, *[]string) {
	t.Helper()
	scheme, err := manager.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	var writes []string
	dry := func(verb string, dryRun []string) {
		if len(dryRun) == 0 {
			writes = append(writes, verb)
		}
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			var co client.CreateOptions
			co.ApplyOptions(opts)
			dry("create", co.DryRun)
			return c.Create(ctx, o, opts...)
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			var uo client.UpdateOptions
			uo.ApplyOptions(opts)
			dry("update", uo.DryRun)
			return c.Update(ctx, o, opts...)
		},
	}).Build()
	return &preview{client: c, namespace: "demo", notes: notes, past: &past{picture: view.Picture{Tombstones: map[string]view.Tombstone{}}},
		digest: func(installed string) (string, error) { return installed, nil },
		observer: func(r client.Reader, digest string) *observe.Observer {
			return &observe.Observer{Roster: &kube.Roster{Cache: r, Live: c, Dialer: unreachable{}}, Digest: digest}
		}}, &writes
}

func cluster(name string) *v1alpha1.GlusterCluster {
	return &v1alpha1.GlusterCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: name}}
}

func node(name, of string) *v1alpha1.GlusterNode {
	return &v1alpha1.GlusterNode{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: name},
		Spec: v1alpha1.GlusterNodeSpec{Cluster: of, External: &v1alpha1.ExternalServer{Address: name + ".example", BrickDirs: []v1alpha1.BrickDir{"/b"}}}}
}

func TestWhichClusters(t *testing.T) {
	cases := map[string]struct {
		reason   string
		change   func(p *preview)
		want     []string
		code     cli.Code
		noteWith string
	}{
		"AllOfTheNamespace": {reason: "without arguments", change: func(*preview) {}, want: []string{"demo/c1", "demo/c2"}},
		"AllNamespaces":     {reason: "-A", change: func(p *preview) { p.all = true }, want: []string{"demo/c1", "demo/c2", "far/c1"}},
		"One":               {reason: "--cluster NAME", change: func(p *preview) { p.cluster = "c2" }, want: []string{"demo/c2"}},
		"OneElsewhere":      {reason: "--cluster NAMESPACE/NAME", change: func(p *preview) { p.cluster = "far/c1" }, want: []string{"far/c1"}},
		"Absent":            {reason: "a cluster that is not there", change: func(p *preview) { p.cluster = "c9" }, code: cli.NotFound},
		"OfTheFile":         {reason: "those that the file is about", change: func(p *preview) { p.declared = []client.Object{node("n9", "c2"), cluster("c3")} }, want: []string{"demo/c2", "demo/c3"}},
		"None":              {reason: "an empty namespace is said so", change: func(p *preview) { p.namespace = "empty" }, want: []string{}, noteWith: "no GlusterCluster in namespace empty"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			far := cluster("c1")
			far.Namespace = "far"
			var notes bytes.Buffer
			p, writes := newPreview(t, &notes, cluster("c1"), cluster("c2"), far, node("n1", "c1"))
			tc.change(p)
			plans, err := p.plans(t.Context())
			if cli.CodeOf(err) != tc.code {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if tc.code != cli.OK {
				return
			}
			got := []string{}
			for _, x := range plans {
				got = append(got, x.key.String())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if !strings.Contains(notes.String(), tc.noteWith) {
				t.Errorf("notes %q, want %q", notes.String(), tc.noteWith)
			}
			if len(*writes) > 0 {
				t.Errorf("a plan wrote: %v", *writes)
			}
		})
	}
}

func TestUnreachableServersAreNamed(t *testing.T) {
	p, _ := newPreview(t, &bytes.Buffer{}, cluster("c1"), node("n1", "c1"))
	plans, err := p.plans(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d := describe(&plans[0])
	for _, x := range d.Problems {
		if x.Object == "GlusterNode/n1" && x.Condition == v1alpha1.ConditionBlocked && x.Reason == v1alpha1.ReasonServerUnreachable {
			return
		}
	}
	t.Errorf("the node's problem is missing: %+v", d.Problems)
}

func TestDeclaredReplacesTheSpecAndKeepsTheStatus(t *testing.T) {
	there := node("n1", "c1")
	there.Spec.Zone, there.Status.UUID, there.Labels = "a", "uuid-1", map[string]string{"kept": "yes"}
	p, writes := newPreview(t, &bytes.Buffer{}, cluster("c1"), there)
	declared := node("n1", "c1")
	declared.Spec.Zone, declared.Annotations = "b", map[string]string{"x": "y"}
	p.declared = []client.Object{declared}
	plans, err := p.plans(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := plans[0].snapshot.Nodes[0]
	if got.Spec.Zone != "b" || got.Status.UUID != "uuid-1" || got.Labels["kept"] != "yes" || got.Annotations["x"] != "y" {
		t.Errorf("planned with %+v", got)
	}
	if len(*writes) > 0 {
		t.Errorf("a plan wrote: %v", *writes)
	}
	var now v1alpha1.GlusterNode
	if err := p.client.Get(t.Context(), types.NamespacedName{Namespace: "demo", Name: "n1"}, &now); err != nil || now.Spec.Zone != "a" {
		t.Errorf("the object was changed: %v %v", now.Spec.Zone, err)
	}
}

func TestInstalledDigest(t *testing.T) {
	with := func(name, digest string) *v1alpha1.GlusterNode {
		n := node(name, "c1")
		n.Status.Gate = &v1alpha1.GateStatus{Digest: digest}
		return n
	}
	p, _ := newPreview(t, &bytes.Buffer{}, with("n1", "bb"), with("n2", "aa"), with("n3", "bb"), node("n4", "c1"))
	got, err := installedDigest(t.Context(), newOverlay(p.client, nil), types.NamespacedName{Namespace: "demo", Name: "c1"})
	if err != nil || got != "bb" {
		t.Errorf("got %q, %v; most nodes have bb", got, err)
	}
}
