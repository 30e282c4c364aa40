package pods

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/test/await"
	"github.com/gluster/anthill/test/cluster"
	"github.com/gluster/anthill/test/local/writer"
)

// A trial is a pool with a volume on which a client writes and re-reads files
// while the test disturbs what it can.
type trial struct {
	*Site
	ns     string
	c      *v1alpha1.GlusterCluster
	v      *v1alpha1.GlusterVolume
	host   *cluster.Node // of the client
	client *Client
	mounts int // so far; each pod of a client has a name of its own
}

// Load of a client that writes for minutes beside everything else.
var load = writer.Config{Files: 100, BytesMax: 128 << 10, Pause: 100 * time.Millisecond, Ledger: ledgerFile, Excuse: excuseFile}

// Files of a client that outlives its pod, or that says that all is down.
const (
	ledgerDir  = "/ledger"
	ledgerFile = ledgerDir + "/files"
	excuseFile = "/work/excuse"
)

// mine returns a name that no run before used: the cluster may be one that
// stayed up.
func mine(base string) string {
	return fmt.Sprintf("%s-%s", base, strconv.FormatInt(time.Now().UnixMilli()%(36*36*36*36*36), 36))
}

// killable is begin in a cluster whose nodes may be killed.
func killable(t *testing.T, namespace string) *Site {
	t.Helper()
	s := begin(t, namespace)
	if !s.Env.Ours() {
		t.Skip("the nodes of a cluster that KUBECONFIG names are not ours to kill")
	}
	t.Cleanup(func() {
		if t.Failed() {
			if err := s.mend(context.WithoutCancel(t.Context())); err != nil {
				t.Log(err)
			}
		}
	})
	must(t, s.Namespace(t.Context(), namespace))
	return s
}

// mend brings back whatever a test that failed left killed, cut off or scaled
// down, for the tests after it.
func (s *Site) mend(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, slow)
	defer cancel()
	errs := []error{s.Env.Local().APIServer.Start(ctx)}
	for _, n := range s.Env.Nodes() {
		errs = append(errs, n.Restore(ctx), s.cordon(ctx, n, false))
	}
	return errors.Join(append(errs, s.scale(ctx, 1))...)
}

// try makes a pool of three nodes with a volume of one set as the storage says,
// and lets a client on host write.
func try(t *testing.T, s *Site, ns string, storage v1alpha1.TemplateStorage, host *cluster.Node) *trial {
	t.Helper()
	p := &trial{Site: s, ns: ns, c: s.Cluster(ns, pool, 3), v: Volume(ns, pool, volume, 1), host: host}
	p.c.Spec.NodeTemplates[0].Storage = storage
	// Heals that were in each other's way are tried again soon, not after ten
	// minutes.
	p.v.Spec.Options = map[string]v1alpha1.OptionValue{"cluster.heal-timeout": "10"}
	create(t, s, p.c, p.v)
	must(t, s.AwaitCondition(t.Context(), slow, p.c, v1alpha1.ConditionAvailable, metav1.ConditionTrue, ""))
	must(t, s.AwaitConverged(t.Context(), slow, p.v))
	p.mount(t)
	return p
}

// mount starts a client on the trial's host and lets it write. One that follows
// another there reads first what that one wrote.
func (p *trial) mount(t *testing.T) {
	t.Helper()
	p.mounts++
	var err error
	p.client, err = p.Site.mount(t.Context(), p.ns, fmt.Sprintf("client-%d", p.mounts), Server(p.ns, pool, 0), volume, func(pod *corev1.Pod) {
		pod.Spec.NodeName = p.host.Name()
		there := corev1.HostPathDirectoryOrCreate
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "ledger", VolumeSource: corev1.VolumeSource{
			HostPath: &corev1.HostPathVolumeSource{Path: "/var/lib/client/" + p.ns, Type: &there},
		}})
		c := &pod.Spec.Containers[0]
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "ledger", MountPath: ledgerDir})
	})
	must(t, err)
	must(t, p.client.startWriter(t.Context(), load))
}

// end lets the client read everything once more, fails if it ever saw anything
// wrong, and removes it.
func (p *trial) end(t *testing.T) {
	t.Helper()
	r, err := p.client.StopWriter(t.Context())
	must(t, err)
	if problem := r.Problem(); problem != "" {
		t.Errorf("the client saw: %s", problem)
	}
	t.Logf("the client found %d of %d files of an earlier run, wrote %d and read %d; %d calls failed while everything was down; else the longest took %d ms",
		r.Resumed, r.Kept, r.Written, r.Read, r.Excused, r.SlowestMillis)
	must(t, p.client.Unmount(t.Context()))
}

// calm fails if the client saw anything wrong up to now.
func (p *trial) calm(t *testing.T, after string) {
	t.Helper()
	r, err := p.client.Report(t.Context())
	must(t, err)
	if problem := r.Problem(); problem != "" {
		t.Fatalf("after %s the client saw: %s", after, problem)
	}
	t.Logf("after %s: %d files written, the longest call took %d ms", after, r.Written, r.SlowestMillis)
}

// excuse lets calls of the client fail from now on, or no more.
func (p *trial) excuse(t *testing.T, yes bool) {
	t.Helper()
	argv := []string{"rm", "-f", excuseFile}
	if yes {
		argv = []string{"touch", excuseFile}
	}
	_, err := p.Env.Exec(t.Context(), p.client.ref, argv...)
	must(t, err)
}

// clear removes the trial's objects, pods and namespace, so that later tests
// have the machine to themselves.
func (p *trial) clear(t *testing.T) {
	t.Helper()
	gone(t, p.Site, p.c, p.v)
	ns := &corev1.Namespace{}
	ns.Name = p.ns
	must(t, p.Client.Delete(t.Context(), ns))
	must(t, p.AwaitGone(t.Context(), slow, ns))
}

// nodes lists the GlusterNodes.
func (p *trial) nodes(ctx context.Context) ([]v1alpha1.GlusterNode, error) {
	var l v1alpha1.GlusterNodeList
	if err := p.Client.List(ctx, &l, client.InNamespace(p.ns)); err != nil {
		return nil, fmt.Errorf("listing nodes: %w", err)
	}
	return l.Items, nil
}

// container is where glusterd of a node runs.
func (p *trial) container(node string) cluster.PodRef {
	return cluster.PodRef{Namespace: p.ns, Pod: node + "-0", Container: v1alpha1.ContainerName}
}

// pod is the pod of a node as it is now.
func (p *trial) pod(ctx context.Context, node string) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	if err := p.Client.Get(ctx, client.ObjectKey{Namespace: p.ns, Name: p.container(node).Pod}, pod); err != nil {
		return nil, fmt.Errorf("looking at the pod of %s: %w", node, err)
	}
	return pod, nil
}

// A look at a trial costs commands in every pod, so it is bounded generously and
// does not follow on the one before at once.
const (
	lookMax   = 3 * time.Minute
	lookEvery = time.Second
)

// until waits for something of the trial.
func (p *trial) until(ctx context.Context, what string, probe func(context.Context) error) error {
	return await.Until(ctx, slow, what, "", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, lookMax)
		defer cancel()
		err := probe(ctx)
		if err != nil {
			time.Sleep(lookEvery)
		}
		return err
	})
}

// lines are the lines of a text that are not empty.
func lines(text []byte) (out []string) {
	for l := range strings.Lines(string(text)) {
		if l = strings.TrimSpace(l); l != "" {
			out = append(out, l)
		}
	}
	return out
}
