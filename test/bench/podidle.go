package main

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
)

// podsIdle is how long requests are counted.
const podsIdle = 2 * time.Minute

// operatorAccount is as whom the operator comes to the API server.
const operatorAccount = "system:serviceaccount:anthill-system:anthill-operator"

// idleOne measures the operator with one cluster that has converged.
func (f *farm) idleOne(ctx context.Context) error { return f.idle(ctx, 1) }

// idleMany measures it with podsClusters clusters, all but the first of one node.
func (f *farm) idleMany(ctx context.Context) error {
	if err := f.site.Disks(ctx, "many", podsClusters/len(f.site.Env.Nodes())+1); err != nil {
		return err
	}
	f.b.sayf("making %d further clusters", podsClusters-1)
	var all []client.Object
	for n := 1; n < podsClusters; n++ {
		c := f.site.Cluster(namespace, fmt.Sprintf("many%d", n), 1)
		if err := f.site.Client.Create(ctx, c); err != nil {
			return err
		}
		all = append(all, c)
	}
	for _, c := range all {
		if err := f.site.AwaitCondition(ctx, podsOpMax, c, v1alpha1.ConditionAvailable, metav1.ConditionTrue, ""); err != nil {
			return err
		}
		if err := f.site.AwaitConverged(ctx, podsOpMax, c); err != nil {
			return err
		}
	}
	return f.idle(ctx, podsClusters)
}

// idle counts what an operator that has nothing to do asks of the API server,
// and then looks at its memory.
func (f *farm) idle(ctx context.Context, clusters int) error {
	f.b.sayf("leaving the operator alone for %v with %d", podsIdle, clusters)
	plain, execs, err := f.requests(ctx)
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(podsIdle):
	}
	plainThen, execsThen, err := f.requests(ctx)
	if err != nil {
		return err
	}
	pid, err := f.site.Operator.PID(ctx)
	if err != nil {
		return err
	}
	kib, err := anonymous(pid)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("-%d-clusters", clusters)
	if clusters == 1 {
		name = "-1-cluster"
	}
	for _, fig := range []figure{
		{name: "pods-idle-requests" + name, unit: "per min", value: (plainThen - plain) / podsIdle.Minutes()},
		{name: "pods-idle-execs" + name, unit: "per min", value: (execsThen - execs) / podsIdle.Minutes()},
		{name: "pods-operator-memory" + name, unit: "MiB", value: float64(kib) / 1024, target: target{relation: atMost, limit: memoryTarget}},
	} {
		if err := f.b.print(fig); err != nil {
			return err
		}
	}
	return nil
}

// requests counts what the operator has asked of the API server: by its own
// metrics, which do not know of pods/exec, and those by the audit log.
func (f *farm) requests(ctx context.Context) (plain, execs float64, err error) {
	if plain, err = f.site.Operator.Metric(ctx, "rest_client_requests_total"); err != nil {
		return 0, 0, err
	}
	writes, err := f.site.Env.Local().APIServer.Writes()
	if err != nil {
		return 0, 0, err
	}
	for _, w := range writes {
		if w.User == operatorAccount && w.Resource == "pods/exec" {
			execs++
		}
	}
	return plain, execs, nil
}
