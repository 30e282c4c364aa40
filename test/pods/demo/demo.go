package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/test/cluster"
	"github.com/gluster/anthill/test/narration"
	"github.com/gluster/anthill/test/pods"
	"github.com/gluster/anthill/test/rig"
)

const (
	namespace = "demo"
	pool      = "demo"
	volume    = "data"
)

type demo struct {
	tell   *narration.Teller
	keep   bool
	site   *pods.Site
	follow *narration.Follower
}

func (d *demo) run(ctx context.Context, cfg cluster.Config) error {
	d.tell.Sayf("Starting a Kubernetes of three nodes on this machine")
	d.tell.Detailf("the first time this compiles Kubernetes and containerd and makes images: half an hour on two cores")
	env, err := cluster.Up(ctx, cfg)
	if err != nil {
		return err
	}
	if d.site, err = pods.New(env); err != nil {
		return err
	}
	d.tell.Sayf("Installing the operator: kubectl apply -f deploy/install.yaml, with these images")
	if err := d.site.Install(ctx); err != nil {
		return err
	}
	d.follow = d.follow.Again(ctx, d.tell, d.site.Operator.Follow)
	for _, act := range []func(context.Context) error{d.make, d.grow, d.account} {
		if err := act(ctx); err != nil {
			return d.failed(ctx, err)
		}
	}
	d.farewell()
	return nil
}

// make declares a cluster of pods and a volume, and waits for both.
func (d *demo) make(ctx context.Context) error {
	d.tell.Sayf("Declaring a GlusterCluster with a template of three nodes, and a GlusterVolume of one replica set")
	if err := d.site.Namespace(ctx, namespace); err != nil {
		return err
	}
	if err := d.site.Disks(ctx, "bricks", 2); err != nil {
		return err
	}
	c, vol := d.site.Cluster(namespace, pool, 3), pods.Volume(namespace, pool, volume, 1)
	for _, o := range []client.Object{c, vol} {
		if err := d.site.Client.Create(ctx, o); err != nil {
			return err
		}
	}
	for _, o := range []client.Object{c, vol} {
		if err := d.site.AwaitCondition(ctx, 5*time.Minute, o, v1alpha1.ConditionAvailable, metav1.ConditionTrue, ""); err != nil {
			return err
		}
	}
	if err := d.site.AwaitConverged(ctx, time.Minute, vol); err != nil {
		return err
	}
	d.tell.Sayf("Available: pool of 3 pods, volume %q with %d bricks, %s usable", volume, *vol.Status.BricksTotal, narration.Size(vol.Status.UsableBytes))
	return nil
}

// grow adds nodes and a replica set under a client that writes, and kills the
// operator's pod in the middle of it.
func (d *demo) grow(ctx context.Context) error {
	d.tell.Sayf("A client pod mounts the volume through FUSE; it writes, re-reads and compares files from now on")
	mount, err := d.site.Mount(ctx, namespace, "client", pods.Server(namespace, pool, 0), volume)
	if err != nil {
		return err
	}
	if err := mount.StartWriter(ctx); err != nil {
		return err
	}
	d.tell.Sayf("Raising the template to four nodes")
	c := d.site.Cluster(namespace, pool, 0)
	if err := d.site.Change(ctx, c, func() { c.Spec.NodeTemplates[0].Thresholds.Nodes = 4 }); err != nil {
		return err
	}
	if err := d.site.Await(ctx, 4*time.Minute, c, func() string {
		if n := c.Status.Nodes; n == nil || n.Joined != 4 {
			return fmt.Sprintf("nodes are %+v", n)
		}
		return ""
	}); err != nil {
		return err
	}
	d.tell.Sayf("Adding a second replica set")
	vol := rig.Replicated(namespace, pool, volume, 1)
	kill := d.follow.When("step.started", "rebalance")
	if err := d.site.Change(ctx, vol, func() { vol.Spec.Layout.Replicate.Sets = 2 }); err != nil {
		return err
	}
	if err := kill(ctx, 2*time.Minute); err != nil {
		return err
	}
	time.Sleep(2 * time.Second) // the command takes ten
	d.tell.Sayf("SIGKILL of the operator, in the middle of the rebalance command")
	was, err := d.site.Operator.Kill(ctx)
	if err != nil {
		return err
	}
	if err := d.site.Operator.AwaitReady(ctx, 2*time.Minute, was); err != nil {
		return err
	}
	d.tell.Sayf("Kubernetes starts it again, over the same journal: it looks first, and goes on where the world is")
	if err := d.site.Await(ctx, 5*time.Minute, vol, func() string {
		if vol.Status.BricksTotal == nil || *vol.Status.BricksTotal != 6 {
			return "not all of six bricks are there"
		}
		if s := rig.Is(vol, v1alpha1.ConditionAvailable, metav1.ConditionTrue, ""); s != "" {
			return s
		}
		return rig.Is(vol, v1alpha1.ConditionProgressing, metav1.ConditionFalse, "")
	}); err != nil {
		return err
	}
	report, err := mount.StopWriter(ctx)
	if err != nil {
		return err
	}
	if p := report.Problem(); p != "" {
		return fmt.Errorf("the client saw: %s", p)
	}
	d.tell.Sayf("Grown: 4 pods, %d bricks, %s usable", *vol.Status.BricksTotal, narration.Size(vol.Status.UsableBytes))
	d.tell.Sayf("The client wrote %d files and read %d: no error, every checksum equal, longest call %d ms",
		report.Written, report.Read, report.SlowestMillis)
	return nil
}

// account prints what the journal has to say.
func (d *demo) account(ctx context.Context) error {
	d.tell.Sayf("What the journal says (kubectl exec -n anthill-system anthill-operator-0 -- anthill journal ls --all)")
	out, err := d.site.Operator.CLI(ctx, "journal", "ls", "--all")
	if err != nil {
		return err
	}
	d.tell.Block(out)
	id := ""
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) > 1 && f[1] == "add-brick" {
			id = f[0]
		}
	}
	if id == "" {
		return fmt.Errorf("the journal has no add-brick operation")
	}
	d.tell.Sayf("The operation that outlived the kill (anthill journal show %s)", id)
	if out, err = d.site.Operator.CLI(ctx, "journal", "show", id); err != nil {
		return err
	}
	d.tell.Block(out)
	if out, err = d.site.Operator.CLI(ctx, "journal", "verify"); err != nil {
		return err
	}
	d.tell.Block(out)
	return nil
}

func (d *demo) farewell() {
	if !d.keep || !d.site.Env.Ours() {
		d.tell.Sayf("Done. `make demo-cluster KEEP=1` leaves it up to play with")
		return
	}
	fmt.Printf(`
It stays up. Go on by hand:
  export KUBECONFIG=%s
  kubectl -n %s get gluster,pods
  kubectl -n anthill-system exec anthill-operator-0 -- anthill journal ls --all
  unset KUBECONFIG && make demo-cluster-down
`, d.site.Env.Kubeconfig(), namespace)
}

// failed adds what a person would look at next.
func (d *demo) failed(ctx context.Context, err error) error {
	return fmt.Errorf("%w\n%s", err, d.site.Account(context.WithoutCancel(ctx), namespace))
}
