package controller

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/apis/v1alpha1"
)

// nodeStatus is a node's status as this cycle found it. What could not be seen
// stays as it was last seen, except whether it is in order.
func (c *cycle) nodeStatus(n *v1alpha1.GlusterNode, have v1alpha1.GlusterNodeStatus, now metav1.Time) v1alpha1.GlusterNodeStatus {
	s := *have.DeepCopy()
	seen := c.decision.Nodes[n.Name]
	op := c.operationOf(n, false)
	s.Conditions = c.conditions(n, op, have.Conditions, now)
	s.ObservedGeneration = n.Generation
	if seen.UUID != "" {
		s.UUID = seen.UUID
	}
	s.Address = seen.Address
	s.Pod = nil
	if p := seen.Pod; p != nil && p.Declared && !p.Foreign {
		s.Pod = &v1alpha1.PodStatus{Name: n.PodName(), Host: p.Host, Ready: p.Ready, Current: seen.PodCurrent}
	}
	if seen.GateDigest != "" {
		s.Gate = &v1alpha1.GateStatus{Digest: seen.GateDigest, Fence: int64(seen.Fence)} //nolint:gosec // fences count tenures
	}
	before := make(map[v1alpha1.BrickDir]v1alpha1.BrickDirStatus, len(have.BrickDirs))
	for _, d := range have.BrickDirs {
		before[d.Path] = d
	}
	s.BrickDirs = make([]v1alpha1.BrickDirStatus, 0, len(seen.Dirs))
	for _, d := range seen.Dirs {
		dir := v1alpha1.BrickDirStatus{Path: v1alpha1.BrickDir(d.Path), State: d.State, FSUUID: d.FSUUID,
			SizeBytes: int64(d.SizeBytes), Bricks: count(d.Bricks), Message: v1alpha1.Bounded(d.Message)} //nolint:gosec // no file system is that large
		if was := before[dir.Path]; d.State == v1alpha1.BrickDirUnknown {
			if dir.FSUUID == "" {
				dir.FSUUID = was.FSUUID
			}
			if dir.SizeBytes == 0 {
				dir.SizeBytes = was.SizeBytes
			}
		}
		s.BrickDirs = append(s.BrickDirs, dir)
	}
	s.ReconcileActions = actions(c.decision.NodeResults[n.Name])
	s.CurrentOperation = current(op)
	return s
}
