package planner

import (
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/gluster/anthill/apis/v1alpha1"
)

// A pod is what follows from the declaration of a node that is one.
type pod struct {
	spec   PodSpec
	digest string
	claims []Claim // to be made; none for a node made by hand
	// wrong says why the pod cannot be as declared; nil if it can.
	wrong *problem
}

// addressMax is how long address and brick directory may be together: glusterd
// makes file names of them (see ExternalServer).
const addressMax = 120

// judgePods decides for every node that is a pod how it should be, and what its
// devices are.
func (c *cycle) judgePods() {
	for _, n := range c.nodes {
		if n.cr.IsPod() {
			n.pod = c.wantPod(n)
			c.judgeDevices(n)
			n.judgeNew()
		}
	}
}

func (c *cycle) wantPod(n *node) *pod {
	p := &pod{spec: PodSpec{
		Image:       c.cluster.Spec.Image,
		Affinity:    n.cr.Spec.NodeAffinity,
		Tolerations: n.cr.Spec.Tolerations,
		Resources:   n.cr.Spec.Resources, PriorityClass: n.cr.Spec.PriorityClassName,
	}}
	if p.spec.Image == "" {
		p.spec.Image = c.s.NodeImage
	}
	if st := n.cr.Spec.State; st != nil {
		p.spec.State = PodState{Claim: st.PVCName, HostPath: st.HostPath}
	}
	t := c.templateOf(n)
	if t != nil {
		p.claims = claimsOf(n.cr, t)
	}
	for i := range n.cr.Spec.Storage {
		s := &n.cr.Spec.Storage[i]
		p.spec.Storage = append(p.spec.Storage, PodStorage{Name: s.Name, Device: s.Device, Claim: s.PVCName, Block: n.blockClaim(p.claims, s)})
	}
	p.digest = p.spec.Sum()
	p.wrong = c.podProblem(n, p, t)
	return p
}

// blockClaim reports whether an entry is a claim of volume mode Block: as it is,
// else as it is to be made.
func (n *node) blockClaim(made []Claim, s *v1alpha1.Storage) bool {
	if n.srv.Pod != nil {
		if have, there := n.srv.Pod.Claims[s.PVCName]; there {
			return have.Block
		}
	}
	return slices.ContainsFunc(made, func(c Claim) bool { return c.Name == s.PVCName && c.Block })
}

// podProblem says why nothing is made for a node, or changed.
func (c *cycle) podProblem(n *node, p *pod, t *v1alpha1.NodeTemplate) *problem {
	for _, d := range n.dirs {
		if len(n.address())+len(d.path) > addressMax {
			return problemf(v1alpha1.ReasonNameTooLong, "glusterd makes file names of volume, address and brick path: %s and %s together have %d characters, at most %d are accepted; choose shorter names of node, cluster or namespace",
				n.address(), d.path, len(n.address())+len(d.path), addressMax)
		}
	}
	if p.spec.Image == "" {
		return problemf(v1alpha1.ReasonImageMissing, "no image is known for the pod: set spec.image of the GlusterCluster, or start the operator with --node-image")
	}
	seen := n.srv.Pod
	switch {
	case seen == nil:
		return nil
	case seen.Foreign:
		return problemf(v1alpha1.ReasonNameTaken, "a StatefulSet named %s exists that Anthill did not make for this node; it is left alone: delete it, or name the node otherwise", n.name())
	}
	if hosts, asked := c.s.Observed.Hosts[n.name()]; asked && hosts != 1 && n.ofOneHost() {
		return problemf(v1alpha1.ReasonHostNotUnique, "devices and host paths are of one host; the node's affinity selects %d", hosts)
	}
	if t != nil {
		if bad := c.classProblem(t); bad != nil {
			return bad
		}
	}
	if bad := n.claimProblem(p); bad != nil {
		return bad
	}
	return c.claimDiffers(n, p)
}

// ofOneHost reports whether the node has something that only one host has.
func (n *node) ofOneHost() bool {
	return (n.cr.Spec.State != nil && n.cr.Spec.State.HostPath != "") ||
		slices.ContainsFunc(n.cr.Spec.Storage, func(s v1alpha1.Storage) bool { return s.Device != "" })
}

// fsUUID is the identity that the file system on an entry gets, and so tells
// that it is ours. It follows from the pool, node and entry: a pool that is
// taken up again knows its devices.
func (c *cycle) fsUUID(n *node, storage string) string {
	pool, err := uuid.Parse(c.poolID)
	if err != nil {
		pool = uuid.NewSHA1(uuid.Nil, []byte(c.poolID)) // an id that somebody chose
	}
	return uuid.NewSHA1(pool, []byte(n.name()+"/"+storage)).String()
}

// judgeDevices says of brick directories on devices whether their device is fit.
// Until it has been prepared there is no directory, and nothing is wrong.
func (c *cycle) judgeDevices(n *node) {
	for _, s := range n.pod.spec.Storage {
		if s.Device == "" && !s.Block {
			continue
		}
		dir := n.dirOf(v1alpha1.BricksDir + "/" + s.Name + "/")
		if dir == nil || dir.state == v1alpha1.BrickDirReady || dir.state == v1alpha1.BrickDirChanged {
			continue
		}
		dir.device = s.Name
		i := slices.IndexFunc(n.srv.Devices, func(d Device) bool { return d.Name == s.Name })
		switch {
		case !n.reachable || i < 0:
			dir.state, dir.why = v1alpha1.BrickDirUnknown, "its device has not been seen yet"
			continue
		case dir.mount.Registered && n.srv.Devices[i].Mounted:
			continue
		}
		switch d := &n.srv.Devices[i]; {
		case d.Error != "":
			dir.state, dir.why = v1alpha1.BrickDirNotMounted, d.Error
		case d.Holds == "" && dir.mount.Registered:
			dir.state, dir.why = v1alpha1.BrickDirChanged, "the device is empty, and held the bricks of this directory"
		case d.Holds == "" || (d.Holds == "xfs" && d.UUID == c.fsUUID(n, s.Name)):
			if !d.Mounted {
				dir.state, dir.why, dir.pending = v1alpha1.BrickDirUnknown, "its device is not prepared yet", true
			}
		default:
			dir.state, dir.why = v1alpha1.BrickDirNotMounted, "the device holds "+d.found()+", which is not this pool's: it is never formatted"
			dir.foreign = true
		}
	}
}

// judgeNew says of brick directories that are not there why, if the pod that runs
// is from before they were declared.
func (n *node) judgeNew() {
	if seen := n.srv.Pod; seen == nil || seen.Runs == "" || seen.Runs == n.pod.digest {
		return
	}
	for _, d := range n.dirs {
		if d.device == "" && d.seen && d.mount.Error != "" && !d.mount.Registered {
			d.state, d.why, d.later = v1alpha1.BrickDirUnknown, "the pod has not been restarted with it yet", true
		}
	}
}

// found names what is on a device.
func (d *Device) found() string {
	text := d.Holds
	if d.Label != "" {
		text += fmt.Sprintf(" labelled %q", d.Label)
	}
	if d.UUID != "" {
		text += " (" + d.UUID + ")"
	}
	return text
}

// templateOf is the template a node was made from; nil for one made by hand, or
// whose template is gone.
func (c *cycle) templateOf(n *node) *v1alpha1.NodeTemplate {
	name := n.cr.Annotations[v1alpha1.AnnotationTemplate]
	if name == "" {
		return nil
	}
	for i := range c.cluster.Spec.NodeTemplates {
		if t := &c.cluster.Spec.NodeTemplates[i]; t.Name == name {
			return t
		}
	}
	return nil
}

// classProblem says which StorageClass of a template is missing.
func (c *cycle) classProblem(t *v1alpha1.NodeTemplate) *problem {
	if c.s.Observed.Classes == nil {
		return nil
	}
	for _, class := range []string{t.Storage.StorageClassName, t.Storage.StateStorageClassName} {
		if class != "" && !slices.Contains(c.s.Observed.Classes, class) {
			return problemf(v1alpha1.ReasonStorageClassNotFound, "StorageClass %s, named by template %s, is not there", class, t.Name)
		}
	}
	return nil
}
