package pods

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/test/rig"
)

// R2, R3, R4: a cluster that says how many nodes and which class, and nothing
// else. What is named and missing, cluster, class, claim and Secret, is told by
// name, nothing is made meanwhile, and it goes on when it is there without a
// word to the objects. Nodes of the template are put back to what it says; one
// made by hand is what a person made it, and counts as that.
func TestMinimalCluster(t *testing.T) {
	t.Parallel()
	const name = "few"
	ns, class := named("minimal"), named("later")
	s := ours(t, ns)
	must(t, s.Namespace(t.Context(), ns))
	hand := &v1alpha1.GlusterNode{}
	hand.Namespace, hand.Name = ns, "hand"
	hand.Spec = v1alpha1.GlusterNodeSpec{
		Cluster: name, Zone: "somewhere",
		Storage: []v1alpha1.Storage{{Name: "bricks", PVCName: "hand-bricks"}},
		State:   &v1alpha1.NodeState{PVCName: "hand-state"},
	}
	outside := &v1alpha1.GlusterNode{}
	outside.Namespace, outside.Name = ns, "outside"
	outside.Spec = v1alpha1.GlusterNodeSpec{Cluster: name, External: &v1alpha1.ExternalServer{
		Address: "outside.example", BrickDirs: []v1alpha1.BrickDir{"/bricks/a"},
		SSH: v1alpha1.SSH{SecretRef: v1alpha1.SecretReference{Name: "outside-login"}},
	}}
	create(t, s, hand, outside)
	blocked(t, s, hand, v1alpha1.ReasonClusterNotFound, name)

	c := rig.Cluster(ns, name)
	c.Spec.NodeTemplates = []v1alpha1.NodeTemplate{{
		Name: Template, Thresholds: v1alpha1.Thresholds{Nodes: 2}, Storage: v1alpha1.TemplateStorage{StorageClassName: class},
	}}
	create(t, s, c)
	made := &v1alpha1.GlusterNode{}
	made.Namespace, made.Name = ns, NodeName(name, 0)
	blocked(t, s, made, v1alpha1.ReasonStorageClassNotFound, class)
	blocked(t, s, hand, v1alpha1.ReasonClaimNotFound, "hand-state")
	blocked(t, s, outside, v1alpha1.ReasonSecretNotFound, "outside-login")
	s.cycles(t, 3)
	must(t, s.Client.Get(t.Context(), client.ObjectKeyFromObject(c), c))
	if all := s.made(t, ns, client.MatchingLabels{}); len(all) > 0 || c.Status.PoolID != "" {
		t.Errorf("pool %q, and made before anything can be: %v", c.Status.PoolID, all)
	}

	there := &storagev1.StorageClass{Provisioner: "kubernetes.io/host-path"}
	there.Name = class
	create(t, s, there)
	joined(t, s, c, 2)
	must(t, s.Client.Get(t.Context(), client.ObjectKeyFromObject(made), made))
	if made.Spec.Zone != Template {
		t.Errorf("the zone of %s is %q, want the name of its template, %q", made.Name, made.Spec.Zone, Template)
	}
	for _, n := range []string{"hand-state", "hand-bricks"} {
		claim(t, s, ns, n, class, "", false)
	}
	joined(t, s, c, 3)
	login := &corev1.Secret{Type: corev1.SecretTypeSSHAuth, Data: map[string][]byte{v1alpha1.SecretKeyPrivateKey: []byte("none")}}
	login.Namespace, login.Name = ns, "outside-login"
	create(t, s, login)
	blocked(t, s, outside, v1alpha1.ReasonHostKeyMissing) // it goes on to what is missing next
	must(t, s.Client.Delete(t.Context(), outside))
	must(t, s.AwaitGone(t.Context(), slow, outside))
	must(t, s.AwaitCondition(t.Context(), slow, c, v1alpha1.ConditionAvailable, metav1.ConditionTrue, ""))
	for _, o := range []client.Object{c, hand, made} {
		must(t, s.Client.Get(t.Context(), client.ObjectKeyFromObject(o), o))
		if o.GetGeneration() != 1 {
			t.Errorf("%s is of generation %d: somebody had to touch it", o.GetName(), o.GetGeneration())
		}
	}
	edited(t, s, c, made, hand)
	s.tidy(t, ns)
	must(t, s.Client.Delete(t.Context(), there))
}

// edited gives both nodes another zone. Of the template's it is put back, of the
// other it counts: a volume for that zone is placed there.
func edited(t *testing.T, s *Site, c *v1alpha1.GlusterCluster, made, hand *v1alpha1.GlusterNode) {
	t.Helper()
	const zone = "elsewhere"
	for _, n := range []*v1alpha1.GlusterNode{hand, made} {
		must(t, s.Change(t.Context(), n, func() { n.Spec.Zone = zone }))
	}
	must(t, s.Await(t.Context(), slow, made, func() string {
		if made.Spec.Zone != Template {
			return "its zone is " + made.Spec.Zone
		}
		return ""
	}))
	if made.Generation != 3 {
		t.Errorf("%s is of generation %d, want 3: edited once, put back once", made.Name, made.Generation)
	}
	v := &v1alpha1.GlusterVolume{}
	v.Namespace, v.Name = c.Namespace, "there"
	v.Spec.Cluster, v.Spec.Zones = c.Name, []string{zone}
	v.Spec.Layout.Distribute = &v1alpha1.DistributeLayout{Bricks: 1}
	create(t, s, v)
	must(t, s.AwaitConverged(t.Context(), slow, v))
	if b := v.Status.Bricks; len(b) != 1 || b[0].Node != hand.Name {
		t.Errorf("a volume for zone %s has bricks %+v, want one on %s", zone, b, hand.Name)
	}
	must(t, s.Client.Get(t.Context(), client.ObjectKeyFromObject(hand), hand))
	if hand.Spec.Zone != zone || hand.Generation != 2 {
		t.Errorf("the node made by hand is in zone %q, generation %d: nobody may alter it", hand.Spec.Zone, hand.Generation)
	}
	must(t, s.Client.Delete(t.Context(), v))
	must(t, s.AwaitGone(t.Context(), slow, v))
}
