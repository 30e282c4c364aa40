package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal"
	kubernetes "github.com/gluster/anthill/test/cluster"
	"github.com/gluster/anthill/test/pods"
)

const (
	podsNodes    = 3  // of the cluster that is timed
	podsClusters = 20 // with the one that is timed; the others have one node each
	podsRounds   = 3  // times a cluster is made
	podsUpMax    = 50 * time.Minute
	podsOpMax    = 10 * time.Minute
)

// A farm is an operator in a Kubernetes with nodes.
type farm struct {
	b    *bench
	site *pods.Site
	seen journal.Seq // of the journal, added up already
}

// pods measures the operator where it is installed into the cluster it serves,
// and its servers are pods.
func (b *bench) pods(ctx context.Context) (err error) {
	checkout, err := root()
	if err != nil {
		return err
	}
	cfg := kubernetes.Config{Checkout: checkout, Instance: instance, Fresh: true, Log: func(line string) { b.sayf("%s", line) }}
	b.sayf("starting a Kubernetes of three nodes")
	up, cancel := context.WithTimeout(ctx, podsUpMax) // builds Kubernetes the first time
	defer cancel()
	env, err := kubernetes.Up(up, cfg)
	if err != nil {
		return err
	}
	if !env.Ours() {
		return errors.New("unset KUBECONFIG: the operator's process is measured from outside, on nodes of ours")
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), downMax)
		defer cancel()
		b.sayf("taking it down")
		err = errors.Join(err, kubernetes.Down(ctx, cfg))
	}()
	f := &farm{b: b}
	if f.site, err = pods.New(env); err != nil {
		return err
	}
	b.sayf("installing the operator")
	if err := f.site.Install(ctx); err != nil {
		return err
	}
	for _, measure := range []func(context.Context) error{f.available, f.idleOne, f.idleMany} {
		if err := measure(ctx); err != nil {
			return fmt.Errorf("%w\n%s", err, f.site.Account(context.WithoutCancel(ctx), namespace))
		}
	}
	return nil
}

// available times clusters of pods with a volume, from kubectl apply to
// Available.
func (f *farm) available(ctx context.Context) error {
	if err := f.site.Namespace(ctx, namespace); err != nil {
		return err
	}
	if err := f.site.Disks(ctx, cluster, podsRounds); err != nil {
		return err
	}
	var walls, pools, overheads []float64
	for n := 1; n <= podsRounds; n++ {
		name := fmt.Sprintf("%s%d", cluster, n)
		f.b.sayf("a cluster of %d nodes with a volume, %d of %d times", podsNodes, n, podsRounds)
		c := f.site.Cluster(namespace, name, podsNodes)
		v := pods.Volume(namespace, name, name, 1)
		whole := span{from: time.Now()}
		for _, o := range []client.Object{c, v} {
			if err := f.site.Client.Create(ctx, o); err != nil {
				return err
			}
		}
		if err := f.site.AwaitCondition(ctx, podsOpMax, v, v1alpha1.ConditionAvailable, metav1.ConditionTrue, ""); err != nil {
			return err
		}
		whole.to = time.Now()
		starting, others, err := f.spans(ctx, name)
		if err != nil {
			return err
		}
		start := covered(starting, whole)
		ours := whole.length() - covered(append(others, starting...), whole)
		f.b.sayf("available after %d ms: pods started for %d ms, ours %d ms", whole.length().Milliseconds(), start.Milliseconds(), ours.Milliseconds())
		walls = append(walls, millis(whole.length()))
		pools = append(pools, millis(start))
		overheads = append(overheads, 100*float64(ours)/float64(whole.length()-start))
		if n == podsRounds {
			break // it stays for the next figures
		}
		if err := f.remove(ctx, c, v); err != nil {
			return err
		}
	}
	for _, fig := range []figure{
		{name: "pods-available-wall", unit: "ms", value: median(walls)},
		{name: "pods-available-starting", unit: "ms", value: median(pools)},
		{name: "pods-available-overhead", unit: "percent", value: median(overheads), target: target{relation: atMost, limit: 15}},
	} {
		if err := f.b.print(fig); err != nil {
			return err
		}
	}
	return nil
}

// spans reads from the journal, and from the servers of a cluster, when pods
// started, and when a gluster command ran or was waited for.
func (f *farm) spans(ctx context.Context, name string) (starting, others []span, err error) {
	events, err := f.site.Operator.Events(ctx, f.seen+1)
	if err != nil {
		return nil, nil, err
	}
	plans, byOp := map[journal.OpID]journal.Plan{}, map[journal.OpID][]journal.Event{}
	for _, ev := range events {
		f.seen = ev.Seq
		byOp[ev.Op] = append(byOp[ev.Op], ev)
		if ev.Type != journal.OpPlanned {
			continue
		}
		var plan journal.Plan
		if err := json.Unmarshal(ev.Data, &plan); err != nil {
			return nil, nil, fmt.Errorf("reading the plan of operation %s: %w", ev.Op, err)
		}
		plans[ev.Op] = plan
	}
	for op, plan := range plans {
		if plan.Steps[len(plan.Steps)-1].ID == podReady {
			starting = append(starting, waits(byOp[op], plan)...)
			continue
		}
		others = append(others, waits(byOp[op], plan)...)
	}
	var servers []place
	for n := range podsNodes {
		at := place{pods.NodeName(name, n), filepath.Join(f.b.dir, pods.NodeName(name, n))}
		if err := f.copyLogs(ctx, at); err != nil {
			return nil, nil, err
		}
		servers = append(servers, at)
	}
	receipts, err := receiptsOf(journal.OpID{}, servers)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range receipts {
		if len(r.Argv) > 0 && r.Ended != 0 {
			others = append(others, span{time.Unix(0, r.Started), time.Unix(0, r.Ended)})
		}
	}
	return starting, others, nil
}

// podReady is the last step of an operation that makes a pod.
const podReady = "ready"

func (f *farm) remove(ctx context.Context, objects ...client.Object) error {
	for _, o := range objects {
		if err := f.site.Client.Delete(ctx, o); err != nil {
			return err
		}
	}
	for _, o := range objects {
		if err := f.site.AwaitGone(ctx, podsOpMax, o); err != nil {
			return err
		}
	}
	return nil
}
