package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/test/local"
	"github.com/gluster/anthill/test/local/writer"
	"github.com/gluster/anthill/test/narration"
	"github.com/gluster/anthill/test/rig"
)

const (
	namespace = "demo"
	cluster   = "demo"
	secret    = "demo-ssh"
	volume    = "data"
)

type demo struct {
	checkout string
	keep     bool
	tell     *narration.Teller
	env      *local.Env
	rig      *rig.Rig
	follow   *narration.Follower
}

func (d *demo) run(ctx context.Context, cfg local.Config) error {
	d.tell.Sayf("Building the operator")
	binary, err := rig.Build(ctx, d.checkout, filepath.Join(d.checkout, "bin"))
	if err != nil {
		return err
	}
	d.tell.Sayf("Starting four GlusterFS servers, etcd and kube-apiserver on this machine")
	d.tell.Detailf("the first time this compiles kube-apiserver: about five minutes on two cores")
	if d.env, err = local.Up(ctx, cfg); err != nil {
		return err
	}
	if d.rig, err = rig.New(ctx, d.env, d.checkout, binary, "operator"); err != nil {
		return err
	}
	d.tell.Sayf("Starting the operator, with the rights of its ServiceAccount")
	if err := d.start(ctx); err != nil {
		return err
	}
	for _, act := range []func(context.Context) error{d.make, d.grow, d.account} {
		if err := act(ctx); err != nil {
			return err
		}
	}
	d.farewell()
	return nil
}

func (d *demo) start(ctx context.Context) error {
	if err := d.rig.Operator.Start(); err != nil {
		return err
	}
	if err := d.rig.Operator.AwaitReady(ctx); err != nil {
		return err
	}
	d.follow = d.follow.Again(ctx, d.tell, func(ctx context.Context, from journal.Seq, each func(journal.Event) error) error {
		c, err := journal.Dial(ctx, journal.SocketPath(d.rig.Operator.Journal()))
		if err != nil {
			return err
		}
		defer c.Close()
		_ = c.Follow(ctx, from, each) // it ends with the operator
		return nil
	})
	return nil
}

func (d *demo) close() {
	d.follow.Stop()
	if d.rig != nil && !d.keep {
		d.rig.Operator.Stop()
	}
}

// make declares a pool of three servers and a volume, and waits for both.
func (d *demo) make(ctx context.Context) error {
	d.tell.Sayf("Declaring a GlusterCluster with three GlusterNodes and a GlusterVolume of one replica set")
	if err := rig.Namespace(ctx, d.rig.Client, namespace); err != nil {
		return err
	}
	if err := d.rig.Secret(ctx, namespace, secret); err != nil {
		return err
	}
	pool, vol := rig.Cluster(namespace, cluster), rig.Replicated(namespace, cluster, volume, 1)
	objects := []client.Object{pool, vol}
	for n := 1; n <= 3; n++ {
		node, err := d.rig.Node(namespace, cluster, secret, n)
		if err != nil {
			return err
		}
		objects = append(objects, node)
	}
	for _, o := range objects {
		if err := d.rig.Client.Create(ctx, o); err != nil {
			return err
		}
	}
	for _, o := range []client.Object{pool, vol} {
		if err := d.rig.AwaitCondition(ctx, 3*time.Minute, o, v1alpha1.ConditionAvailable, metav1.ConditionTrue, ""); err != nil {
			return d.failed(err)
		}
	}
	if err := d.rig.AwaitConverged(ctx, time.Minute, vol); err != nil {
		return d.failed(err)
	}
	d.tell.Sayf("Available: pool of 3 servers, volume %q with %d bricks, %s usable", volume, *vol.Status.BricksTotal, narration.Size(vol.Status.UsableBytes))
	return nil
}

// grow adds a server and a replica set under a client that writes, and kills
// the operator in the middle of it.
func (d *demo) grow(ctx context.Context) error {
	d.tell.Sayf("Mounting the volume through FUSE; a client writes, re-reads and compares files from now on")
	mount, err := d.env.Mount(ctx, volume)
	if err != nil {
		return err
	}
	if err := mount.StartWriter(ctx, writer.Config{}); err != nil {
		return err
	}
	time.Sleep(2 * time.Second)
	d.tell.Sayf("Adding the fourth server and a second replica set")
	node, err := d.rig.Node(namespace, cluster, secret, 4)
	if err != nil {
		return err
	}
	if err := d.rig.Client.Create(ctx, node); err != nil {
		return err
	}
	if err := d.rig.AwaitCondition(ctx, 2*time.Minute, node, v1alpha1.ConditionAvailable, metav1.ConditionTrue, ""); err != nil {
		return d.failed(err)
	}
	vol := rig.Replicated(namespace, cluster, volume, 1)
	if err := d.rig.Client.Get(ctx, client.ObjectKeyFromObject(vol), vol); err != nil {
		return err
	}
	before := vol.DeepCopy()
	vol.Spec.Layout.Replicate.Sets = 2
	kill := d.follow.When("step.started", "rebalance")
	if err := d.rig.Client.Patch(ctx, vol, client.MergeFrom(before)); err != nil {
		return err
	}
	if err := kill(ctx, 2*time.Minute); err != nil {
		return d.failed(err)
	}
	time.Sleep(3 * time.Second) // the command takes ten
	d.tell.Sayf("kill -9 of the operator, in the middle of the rebalance command (process %d)", d.rig.Operator.PID())
	d.rig.Operator.Kill()
	time.Sleep(2 * time.Second)
	d.tell.Sayf("Starting it again: it looks first, and goes on where the world is")
	if err := d.start(ctx); err != nil {
		return err
	}
	if err := d.rig.Await(ctx, 4*time.Minute, vol, func() string {
		if vol.Status.BricksTotal == nil || *vol.Status.BricksTotal != 6 {
			return "not all of six bricks are there"
		}
		if s := rig.Is(vol, v1alpha1.ConditionAvailable, metav1.ConditionTrue, ""); s != "" {
			return s
		}
		return rig.Is(vol, v1alpha1.ConditionProgressing, metav1.ConditionFalse, "")
	}); err != nil {
		return d.failed(err)
	}
	report, err := mount.StopWriter(ctx)
	if err != nil {
		return err
	}
	if p := report.Problem(); p != "" {
		return fmt.Errorf("the client saw: %s", p)
	}
	d.tell.Sayf("Grown: 4 servers, %d bricks, %s usable", *vol.Status.BricksTotal, narration.Size(vol.Status.UsableBytes))
	d.tell.Sayf("The client wrote %d files and read %d: no error, every checksum equal, longest call %d ms",
		report.Written, report.Read, report.SlowestMillis)
	return nil
}

// account prints what the journal has to say.
func (d *demo) account(ctx context.Context) error {
	d.tell.Sayf("What the journal says (anthill journal ls --all)")
	out, err := d.rig.Operator.CLI(ctx, "journal", "ls", "--all")
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
	if out, err = d.rig.Operator.CLI(ctx, "journal", "show", id); err != nil {
		return err
	}
	d.tell.Block(out)
	if out, err = d.rig.Operator.CLI(ctx, "journal", "verify"); err != nil {
		return err
	}
	d.tell.Block(out)
	return nil
}

func (d *demo) farewell() {
	if !d.keep {
		d.tell.Sayf("Done. `make demo KEEP=1` leaves it up to play with")
		return
	}
	fmt.Printf(`
It stays up. Go on by hand:
  export KUBECONFIG=%s
  %s -n %s get gluster
  export ANTHILL_JOURNAL=%s
  %s journal ls --all
  make demo-down
`, d.env.APIServer.Kubeconfig(), d.env.APIServer.Kubectl(), namespace, d.rig.Operator.Journal(), d.rig.Operator.Binary)
}

// failed adds what a person would look at next.
func (d *demo) failed(err error) error {
	return fmt.Errorf("%w\nlast lines of the operator's log:\n%s", err, local.Tail(d.rig.Operator.LogFile(), 20))
}
