package planner

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gluster/anthill/apis/v1alpha1"
)

// claimProblem says what is wrong with the claims of a node, so that its pod is
// neither made nor restarted.
func (n *node) claimProblem(p *pod) *problem {
	check := func(name string, mayBlock bool, held string) *problem {
		claim, there := n.srv.Pod.Claims[name]
		made := slices.ContainsFunc(p.claims, func(c Claim) bool { return c.Name == name })
		switch {
		case name == "" || !there && made && held == "":
			return nil
		case !there && made:
			return problemf(v1alpha1.ReasonClaimNotFound, "PersistentVolumeClaim %s is gone, and held %s: an empty one is not put in its place", name, held)
		case !there:
			return problemf(v1alpha1.ReasonClaimNotFound, "PersistentVolumeClaim %s is not there", name)
		case claim.Lost:
			return problemf(v1alpha1.ReasonClaimUnfit, "PersistentVolumeClaim %s: %s", name, claim.Message)
		case claim.Block && !mayBlock:
			return problemf(v1alpha1.ReasonClaimUnfit, "PersistentVolumeClaim %s is of volume mode Block; state needs one of volume mode Filesystem", name)
		}
		return nil
	}
	held := ""
	if n.recorded != "" {
		held = "the identity of the peer"
	}
	if bad := check(p.spec.State.Claim, false, held); bad != nil {
		return bad
	}
	for _, s := range p.spec.Storage {
		held = ""
		if n.hadDir(v1alpha1.BricksDir + "/" + s.Name) {
			held = "a registered brick directory"
		}
		if bad := check(s.Claim, true, held); bad != nil {
			return bad
		}
	}
	return nil
}

// hadDir reports whether the file system of a brick directory was recorded.
func (n *node) hadDir(path string) bool {
	return slices.ContainsFunc(n.cr.Status.BrickDirs, func(d v1alpha1.BrickDirStatus) bool {
		return string(d.Path) == path && d.FSUUID != ""
	})
}

// claimDiffers says that a claim is not as the template describes it now. Claims
// are never changed: a pod that is there goes on with what it has, and one that
// is not is not made.
func (c *cycle) claimDiffers(n *node, p *pod) *problem {
	for _, want := range p.claims {
		have, there := n.srv.Pod.Claims[want.Name]
		if !there {
			continue
		}
		var bad *problem
		const stays = "claims that exist are not changed"
		switch {
		case have.Class != want.Class:
			bad = problemf(v1alpha1.ReasonClaimUnfit, "PersistentVolumeClaim %s is of storage class %q, the template says %q; %s", want.Name, have.Class, want.Class, stays)
		case have.Block != want.Block:
			bad = problemf(v1alpha1.ReasonClaimUnfit, "PersistentVolumeClaim %s is of another volume mode than the template says; %s", want.Name, stays)
		case smaller(have.Size, want.Size):
			bad = problemf(v1alpha1.ReasonClaimUnfit, "PersistentVolumeClaim %s asks for %s, the template says %s; %s", want.Name, have.Size, want.Size, stays)
		}
		if bad != nil && !n.srv.Pod.Declared {
			return bad
		}
		c.block(n.object(), bad)
	}
	return nil
}

// smaller compares two sizes; one that nobody knows is not smaller.
func smaller(a, b string) bool {
	x, errX := resource.ParseQuantity(a)
	y, errY := resource.ParseQuantity(b)
	return errX == nil && errY == nil && x.Cmp(y) < 0
}

// missingClaims are those that are to be made before the pod is restarted.
func (n *node) missingClaims() []Claim {
	var out []Claim
	for _, c := range n.pod.claims {
		if _, there := n.srv.Pod.Claims[c.Name]; !there && n.pod.uses(c.Name) {
			out = append(out, c)
		}
	}
	return out
}

func (p *pod) uses(claim string) bool {
	return p.spec.State.Claim == claim || slices.ContainsFunc(p.spec.Storage, func(s PodStorage) bool { return s.Claim == claim })
}

// outside says which bricks of the node are where none of its storage is: its
// pod would lose them. It was declared again with less than it had, or somebody
// made them by hand.
func (c *cycle) outside(n *node) *problem {
	view := c.pool.view()
	if view == nil || n.uuid == "" {
		return nil
	}
	var lost []string
	for i := range view.Volumes {
		for _, b := range view.Volumes[i].Bricks {
			if b.PeerUUID == n.uuid && n.dirOf(b.Path) == nil {
				lost = append(lost, view.Volumes[i].Name+" in "+b.Path)
			}
		}
	}
	if len(lost) == 0 {
		return nil
	}
	slices.Sort(lost)
	return problemf(v1alpha1.ReasonStorageMissing, "the node has bricks where none of its storage is; its pod is not restarted before storage has entries for them: %s", listed(lost))
}
