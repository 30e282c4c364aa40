package e2e

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"testing"

	"golang.org/x/crypto/ssh"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/test/rig"
)

// R2: a cluster of a few lines and three nodes becomes Available.
func TestMinimalClusterBecomesAvailable(t *testing.T) {
	r := begin(t)
	p := base(t, r)
	if p.cluster.Spec.ClusterOptions != nil || p.cluster.Spec.Paused {
		t.Fatalf("the cluster says more than that it is there: %+v", p.cluster.Spec)
	}
	for _, s := range p.servers(r) {
		peers := connectedPeers(t, s)
		if len(peers) != 2 {
			t.Errorf("%s sees %d connected peers, want 2: %v", s.Name(), len(peers), peers)
		}
	}
	v := p.get(t, r, volumeName)
	if n := v.Status.BricksUp; n == nil || *n != 3 {
		t.Errorf("bricks up: %v, want 3", n)
	}
	must(t, r.Operator.Verify(t.Context()))
}

// strangeKey is a private key that no server accepts.
func strangeKey(t *testing.T) []byte {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	block, err := ssh.MarshalPrivateKey(key, "")
	must(t, err)
	return pem.EncodeToMemory(block)
}

// R3: what is missing or wrong is named in a condition, nothing is begun on any
// server, and everything goes on by itself once it is put right. Only a wrong
// host key needs the custom resource itself to be corrected.
func TestMissingReferencesAreNamedAndNothingIsHalfDone(t *testing.T) {
	r := begin(t)
	all := take(t, r, 4, 5, 6)
	was := trees(t, all)
	ns := namespace(t, r, "missing")
	p := &pool{ns: ns, cluster: rig.Cluster(ns, clusterName)}
	secret(t, r, ns, "strange", strangeKey(t))
	secret(t, r, ns, "garbage", []byte("no key"))

	// No cluster yet. Nodes are told so, whatever else is wrong with them.
	must(t, all[0].StopSSH(t.Context()))
	unreachable, mismatch, refused := p.node(t, r, 4), p.node(t, r, 5), p.node(t, r, 6)
	absent, invalid := p.node(t, r, 5), p.node(t, r, 6)
	other, err := r.Env.Server(4).HostKey()
	must(t, err)
	mismatch.Spec.External.SSH.HostKeys = []v1alpha1.HostKey{v1alpha1.HostKey(other)}
	mismatch.Spec.External.SSH.SecretRef.Name = "good"
	unreachable.Spec.External.SSH.SecretRef.Name = "good"
	refused.Spec.External.SSH.SecretRef.Name = "strange"
	absent.Name, absent.Spec.External.Address = "absent", "absent.example"
	invalid.Name, invalid.Spec.External.Address, invalid.Spec.External.SSH.SecretRef.Name = "invalid", "invalid.example", "garbage"
	nodes := []*v1alpha1.GlusterNode{unreachable, mismatch, refused, absent, invalid}
	for i, n := range nodes {
		must(t, r.Client.Create(t.Context(), n))
		if i < 3 {
			dirty[4+i] = p
		}
	}
	vol := rig.Replicated(ns, clusterName, "waits", 1)
	must(t, r.Client.Create(t.Context(), vol))
	for _, n := range nodes {
		blocked(t, r, n, v1alpha1.ReasonClusterNotFound, clusterName)
	}
	blocked(t, r, vol, v1alpha1.ReasonClusterNotFound, clusterName)

	// With the cluster there, each says what is wrong with it.
	must(t, r.Client.Create(t.Context(), p.cluster))
	blocked(t, r, unreachable, v1alpha1.ReasonSecretNotFound, "good")
	blocked(t, r, mismatch, v1alpha1.ReasonSecretNotFound, "good")
	must(t, r.Secret(t.Context(), ns, "good"))
	blocked(t, r, unreachable, v1alpha1.ReasonServerUnreachable)
	blocked(t, r, mismatch, v1alpha1.ReasonHostKeyMismatch)
	blocked(t, r, refused, v1alpha1.ReasonLoginRefused)
	blocked(t, r, absent, v1alpha1.ReasonSecretNotFound, secretName)
	blocked(t, r, invalid, v1alpha1.ReasonSecretInvalid)
	condition(t, r, p.cluster, v1alpha1.ConditionAvailable, metav1.ConditionFalse, v1alpha1.ReasonWaitingForNodes,
		unreachable.Name, v1alpha1.ReasonServerUnreachable, v1alpha1.ReasonHostKeyMismatch, v1alpha1.ReasonLoginRefused,
		v1alpha1.ReasonSecretNotFound, v1alpha1.ReasonSecretInvalid)
	condition(t, r, vol, v1alpha1.ConditionAvailable, metav1.ConditionFalse, v1alpha1.ReasonWaitingForCluster)
	untouched(t, all, was)
	if ops := p.ops(t, r); len(ops) > 0 || p.cluster.Status.PoolID != "" {
		t.Errorf("%d operations, pool %q: nothing could be begun", len(ops), p.cluster.Status.PoolID)
	}

	// Put right from outside: the nodes' own objects are not touched.
	generation := refused.Generation
	must(t, all[0].StartSSH(t.Context()))
	key, err := r.Env.SSHKey()
	must(t, err)
	strange := secretOf(t, r, ns, "strange")
	patch(t, r, strange, func(s *corev1.Secret) { s.Data[v1alpha1.SecretKeyPrivateKey] = key })
	right, err := r.Env.Server(5).HostKey()
	must(t, err)
	patch(t, r, mismatch, func(n *v1alpha1.GlusterNode) {
		n.Spec.External.SSH.HostKeys = []v1alpha1.HostKey{v1alpha1.HostKey(right)}
	})
	// Two that lead nowhere are withdrawn.
	for _, n := range nodes[3:] {
		must(t, r.Client.Delete(t.Context(), n))
		gone(t, r, n)
	}
	p.numbers = []int{4, 5, 6}
	p.converged(t, r)
	must(t, r.AwaitConverged(t.Context(), slow, vol))
	must(t, r.Client.Get(t.Context(), objectKey(refused), refused))
	if refused.Generation != generation {
		t.Errorf("the node whose login was refused changed from generation %d to %d", generation, refused.Generation)
	}
}

// A secret that comes later is enough: nobody has to touch the cluster or its
// nodes (R3).
func TestSecretThatComesLater(t *testing.T) {
	r := begin(t)
	all := take(t, r, 4)
	ns := namespace(t, r, "later")
	p := &pool{ns: ns, cluster: rig.Cluster(ns, clusterName)}
	must(t, r.Client.Create(t.Context(), p.cluster))
	was := trees(t, all)
	node := p.add(t, r, 4)
	blocked(t, r, node, v1alpha1.ReasonSecretNotFound, secretName)
	untouched(t, all, was)
	must(t, r.Secret(t.Context(), ns, secretName))
	p.converged(t, r)
	must(t, r.Client.Get(t.Context(), objectKey(node), node))
	if node.Generation != 1 || p.cluster.Generation != 1 {
		t.Errorf("generations %d and %d, want 1: nobody touched them", node.Generation, p.cluster.Generation)
	}
}
