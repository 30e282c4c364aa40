package crash

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal/view"
	"github.com/gluster/anthill/planner"
	"github.com/gluster/anthill/test/rig"
)

// binary is the operator the scenario is run with.
func (sc *scenario) binary() string {
	if sc.newGate {
		return environment.newer
	}
	return environment.binary
}

// scenarios has one for each kind of operation.
func scenarios() []*scenario {
	return []*scenario{
		{
			name: "Bootstrap", servers: 1, kinds: []string{planner.KindBootstrapPool},
			declare: func(ctx context.Context, s *simulation) error {
				return s.declare(ctx, append(nodes(1, 1), rig.Cluster(s.ns, cluster))...)
			},
		},
		{
			name: "Join", servers: 2, kinds: []string{planner.KindPrepareNode, planner.KindJoinNode},
			base: poolOf(1),
			declare: func(ctx context.Context, s *simulation) error {
				return s.declare(ctx, nodes(2, 2)...)
			},
		},
		{
			name: "InstallGate", servers: 2, kinds: []string{planner.KindInstallGate}, newGate: true,
			base:    poolOf(2),
			declare: func(context.Context, *simulation) error { return nil },
		},
		{
			name: "Create", servers: 3, kinds: []string{planner.KindCreateVolume},
			base: poolOf(3),
			declare: func(ctx context.Context, s *simulation) error {
				return s.declare(ctx, optioned(s))
			},
		},
		{
			name: "Grow", servers: 4, kinds: []string{planner.KindAddBrick},
			base: poolWithVolume(4),
			declare: func(ctx context.Context, s *simulation) error {
				return change(ctx, s, &v1alpha1.GlusterVolume{}, volumeName, func(v *v1alpha1.GlusterVolume) {
					v.Spec.Layout.Replicate.Sets = 2
				})
			},
		},
		{
			name: "Options", servers: 3, kinds: []string{planner.KindSetOptions},
			base: poolWithVolume(3),
			declare: func(ctx context.Context, s *simulation) error {
				if err := change(ctx, s, &v1alpha1.GlusterVolume{}, volumeName, func(v *v1alpha1.GlusterVolume) {
					v.Spec.Options = map[string]v1alpha1.OptionValue{"performance.io-thread-count": "8", "performance.cache-size": "48MB"}
				}); err != nil {
					return err
				}
				return change(ctx, s, &v1alpha1.GlusterCluster{}, cluster, func(c *v1alpha1.GlusterCluster) {
					c.Spec.ClusterOptions = map[string]v1alpha1.OptionValue{"cluster.daemon-log-level": "INFO"}
				})
			},
		},
		{
			name: "Delete", servers: 3, kinds: []string{planner.KindDeleteVolume},
			base: poolWithVolume(3),
			declare: func(ctx context.Context, s *simulation) error {
				if err := change(ctx, s, &v1alpha1.GlusterVolume{}, volumeName, func(v *v1alpha1.GlusterVolume) {
					v.Annotations = map[string]string{v1alpha1.AnnotationConfirmDelete: volumeName}
				}); err != nil {
					return err
				}
				v := &v1alpha1.GlusterVolume{}
				v.Namespace, v.Name = s.ns, volumeName
				return s.rig.Client.Delete(ctx, v)
			},
		},
		{
			name: "Release", servers: 4, kinds: []string{planner.KindReleaseNode},
			base: preparedOnly,
			declare: func(ctx context.Context, s *simulation) error {
				n := &v1alpha1.GlusterNode{}
				n.Namespace, n.Name = s.ns, "node-4"
				if err := s.rig.Client.Delete(ctx, n); err != nil {
					return err
				}
				return paused(ctx, s, false)
			},
		},
	}
}

// optioned is a volume with two options.
func optioned(s *simulation) *v1alpha1.GlusterVolume {
	v := rig.Replicated(s.ns, cluster, volumeName, 1)
	v.Spec.Options = map[string]v1alpha1.OptionValue{"performance.cache-size": "64MB", "network.ping-timeout": "30"}
	return v
}

// poolOf makes a pool of n servers.
func poolOf(n int) func(context.Context, *simulation) error {
	return func(ctx context.Context, s *simulation) error {
		if err := s.declare(ctx, append(nodes(1, n), rig.Cluster(s.ns, cluster))...); err != nil {
			return err
		}
		kinds := []string{planner.KindBootstrapPool}
		if n > 1 {
			kinds = append(kinds, planner.KindJoinNode)
		}
		return s.awaitConverged(ctx, convergeMax, &scenario{kinds: kinds})
	}
}

// poolWithVolume makes a pool of n servers with a volume.
func poolWithVolume(n int) func(context.Context, *simulation) error {
	return func(ctx context.Context, s *simulation) error {
		if err := poolOf(n)(ctx, s); err != nil {
			return err
		}
		if err := s.declare(ctx, optioned(s)); err != nil {
			return err
		}
		return s.awaitConverged(ctx, convergeMax, &scenario{kinds: []string{planner.KindCreateVolume}})
	}
}

func paused(ctx context.Context, s *simulation, yes bool) error {
	return change(ctx, s, &v1alpha1.GlusterCluster{}, cluster, func(c *v1alpha1.GlusterCluster) { c.Spec.Paused = yes })
}

// preparedOnly makes a pool of three, and a fourth server that is prepared and
// has not joined: a member's glusterd was down, then the cluster was paused.
func preparedOnly(ctx context.Context, s *simulation) error {
	if err := poolOf(3)(ctx, s); err != nil {
		return err
	}
	if err := s.pool.Kill("s3"); err != nil {
		return err
	}
	if err := s.declare(ctx, nodes(4, 4)...); err != nil {
		return err
	}
	if _, err := s.op.AwaitView(ctx, convergeMax, func(v *rig.View) string {
		prepared := false
		for _, op := range v.All() {
			if op.Plan.Target != "node/node-4" {
				continue
			}
			switch {
			case op.Plan.Kind == planner.KindPrepareNode:
				prepared = op.State == view.Completed
			case op.Plan.Kind == planner.KindJoinNode && op.PastPivot():
				return "it joins"
			}
		}
		if !prepared {
			return "node-4 is not prepared"
		}
		return ""
	}); err != nil {
		return err
	}
	if err := paused(ctx, s, true); err != nil {
		return err
	}
	c := rig.Cluster(s.ns, cluster)
	if err := s.rig.AwaitCondition(ctx, convergeMax, c, v1alpha1.ConditionProgressing, metav1.ConditionFalse, v1alpha1.ReasonPaused); err != nil {
		return err
	}
	return s.pool.Start("s3")
}
