package pods

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/test/rig"
)

// Another image under a client that writes all the time: while something waits to
// be healed no pod goes. The image does not exist: one pod is lost to that and no
// other, and the right one takes effect at once. Other tolerations come in the
// middle of it, and a claim more for each when all have that. Pods go one after
// the other, never two at a time, and the client sees no error.
func TestRollout(t *testing.T) {
	t.Parallel()
	const name = "roll"
	ns := named("rollout")
	s := ours(t, ns)
	must(t, s.Namespace(t.Context(), ns))
	must(t, s.Disks(t.Context(), named("rollout"), 1))
	second := s.NodeImage() + "-second" + again
	must(t, s.Env.TagImage(t.Context(), s.NodeImage(), second))
	c, v := s.Cluster(ns, name, 3), Volume(ns, name, volume, 1)
	create(t, s, c, v)
	must(t, s.AwaitConverged(t.Context(), slow, v))
	mount, err := s.Mount(t.Context(), ns, "client", Server(ns, name, 0), volume)
	must(t, err)
	must(t, mount.StartWriter(t.Context()))
	before, err := s.UIDs(t.Context(), ns, name)
	must(t, err)
	pods, err := s.WatchPods(t.Context(), ns, name)
	must(t, err)

	heal := unhealed(t, s, ns, name, mount)
	must(t, s.Change(t.Context(), c, func() { c.Spec.Image = s.NodeImage() + "-that-is-not-there" }))
	must(t, s.AwaitThat(t.Context(), slow, "the restart waits for heals", func() string { return waitsToHeal(t.Context(), s, ns, name) }))
	must(t, mount.Progress(t.Context(), 5))
	s.cycles(t, 3)
	same(t, s, ns, name, before)
	heal()
	lost := pulls(t, s, c)
	s.cycles(t, 3)
	for pod, n := range pods.Restarts() {
		if pod != lost && n > 0 {
			t.Errorf("%s went too while %s cannot be started", pod, lost)
		}
	}
	must(t, s.Change(t.Context(), c, func() { c.Spec.Image = second }))

	must(t, s.AwaitThat(t.Context(), slow, "a pod has the other image", func() string {
		list, err := s.podsOf(t.Context(), ns, name)
		must(t, err)
		for i := range list {
			if list[i].Spec.Containers[0].Image == second {
				return ""
			}
		}
		return "none has"
	}))
	tolerations := []corev1.Toleration{{Key: "anthill-test/rollout", Operator: corev1.TolerationOpExists}}
	must(t, s.Change(t.Context(), c, func() { c.Spec.NodeTemplates[0].Tolerations = tolerations }))
	must(t, s.AwaitThat(t.Context(), slow, "all pods are as declared", func() string { return rolled(t.Context(), s, ns, name, second, tolerations[0].Key) }))
	must(t, s.AwaitConverged(t.Context(), slow, c))
	oneMore(t, s, c)
	must(t, mount.Progress(t.Context(), 5))
	must(t, pods.Stop())
	if down := pods.DownAtOnce(); len(down) > 1 {
		t.Errorf("not ready at one time: %v", down)
	}
	for pod, n := range pods.Restarts() {
		if n < 2 || n > 4 { // the first one with each of the four declarations
			t.Errorf("%s was made anew %d times", pod, n)
		}
	}
	report, err := mount.StopWriter(t.Context())
	must(t, err)
	if p := report.Problem(); p != "" {
		t.Errorf("the client saw: %s", p)
	}
	t.Logf("the client wrote %d files and read %d; longest call %d ms; pods were made anew: %v", report.Written, report.Read, report.SlowestMillis, pods.Restarts())
	must(t, mount.Verify(t.Context(), report))
	must(t, mount.Unmount(t.Context()))
	s.tidy(t, ns)
}

// oneMore declares a claim more for each node of the template, and waits until all
// can take bricks there.
func oneMore(t *testing.T, s *Site, c *v1alpha1.GlusterCluster) {
	t.Helper()
	must(t, s.Disks(t.Context(), named("rollout-more"), 1))
	must(t, s.Change(t.Context(), c, func() { c.Spec.NodeTemplates[0].Storage.Count = 2 }))
	must(t, s.AwaitThat(t.Context(), slow, "every node has a second directory for bricks", func() string {
		var nodes v1alpha1.GlusterNodeList
		must(t, s.Client.List(t.Context(), &nodes, client.InNamespace(c.Namespace)))
		for i := range nodes.Items {
			n := &nodes.Items[i]
			if len(n.Status.BrickDirs) != 2 {
				return fmt.Sprintf("%s has %d: %s", n.Name, len(n.Status.BrickDirs), rig.Message(n, v1alpha1.ConditionProgressing))
			}
			for _, d := range n.Status.BrickDirs {
				if d.State != v1alpha1.BrickDirReady {
					return fmt.Sprintf("%s of %s is %s", d.Path, n.Name, d.State)
				}
			}
		}
		return ""
	}))
	must(t, s.AwaitConverged(t.Context(), slow, c))
}

// pulls waits until a node says that its image cannot be had, and returns its pod.
func pulls(t *testing.T, s *Site, c *v1alpha1.GlusterCluster) (pod string) {
	t.Helper()
	must(t, s.AwaitThat(t.Context(), slow, "a node says that its image cannot be had", func() string {
		said := ""
		for k := range 3 {
			n := &v1alpha1.GlusterNode{}
			must(t, s.Client.Get(t.Context(), client.ObjectKey{Namespace: c.Namespace, Name: NodeName(c.Name, k)}, n))
			message := rig.Message(n, v1alpha1.ConditionBlocked)
			if strings.Contains(message, "ErrImagePull") || strings.Contains(message, "ImagePullBackOff") {
				pod = n.Name + "-0"
				return ""
			}
			said += n.Name + ": " + message + "; "
		}
		return said
	}))
	return pod
}

// unhealed makes copies differ: self-heal is off, a brick is killed, the client
// writes, the brick comes back. What is returned lets them heal.
func unhealed(t *testing.T, s *Site, ns, name string, mount *Client) (heal func()) {
	t.Helper()
	set := func(value string) {
		_, err := s.Gluster(t.Context(), ns, NodeName(name, 0), "volume", "set", volume, "cluster.self-heal-daemon", value)
		must(t, err)
	}
	set("off")
	_, err := s.In(t.Context(), ns, NodeName(name, 1), "/bin/sh", "-c", `kill -KILL $(cat /run/gluster/vols/"$0"/*.pid)`, volume)
	must(t, err)
	must(t, mount.Progress(t.Context(), 5))
	_, err = s.Gluster(t.Context(), ns, NodeName(name, 0), "volume", "start", volume, "force")
	must(t, err)
	v := Volume(ns, name, volume, 1)
	must(t, s.Await(t.Context(), slow, v, func() string {
		if n := v.Status.BricksUp; n == nil || *n != 3 {
			return "a brick is down"
		}
		return ""
	}))
	return func() { set("on") }
}

// waitsToHeal says "" if a node says that its pod is not restarted now because of
// what is to be healed.
func waitsToHeal(ctx context.Context, s *Site, ns, name string) string {
	said := ""
	for k := range 3 {
		n := &v1alpha1.GlusterNode{}
		if err := s.Client.Get(ctx, client.ObjectKey{Namespace: ns, Name: NodeName(name, k)}, n); err != nil {
			return err.Error()
		}
		if op := n.Status.CurrentOperation; op != nil && op.Kind == "restart-node" && op.Step == "healed" {
			return ""
		}
		said += fmt.Sprintf("%s: %s; ", n.Name, rig.Message(n, v1alpha1.ConditionProgressing))
	}
	return said
}

// same fails if a pod is another one than before.
func same(t *testing.T, s *Site, ns, name string, before map[string]string) {
	t.Helper()
	now, err := s.UIDs(t.Context(), ns, name)
	must(t, err)
	for pod, uid := range before {
		if now[pod] != uid {
			t.Errorf("%s was made anew", pod)
		}
	}
}

// rolled says "" if all pods have the image and tolerate that key, and serve.
func rolled(ctx context.Context, s *Site, ns, name, image, key string) string {
	list, err := s.podsOf(ctx, ns, name)
	if err != nil {
		return err.Error()
	}
	for i := range list {
		pod, tolerates := &list[i], false
		for _, t := range pod.Spec.Tolerations {
			tolerates = tolerates || t.Key == key
		}
		switch why := notReady(pod); {
		case pod.Spec.Containers[0].Image != image:
			return fmt.Sprintf("%s runs %s", pod.Name, pod.Spec.Containers[0].Image)
		case !tolerates:
			return pod.Name + " does not tolerate " + key
		case why != "":
			return pod.Name + ": " + why
		}
	}
	if len(list) != 3 {
		return fmt.Sprintf("%d pods", len(list))
	}
	return ""
}
