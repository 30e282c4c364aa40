package v1alpha1

import "fmt"

// What ssh fields mean when they are left out.
const (
	SSHPortDefault int32 = 22
	SSHUserDefault       = "root"
)

// SSHHost is the name or IP address to connect to: ssh.host, else address.
func (s *ExternalServer) SSHHost() string {
	if s.SSH.Host != "" {
		return s.SSH.Host
	}
	return s.Address
}

// SSHPort is the port to connect to: ssh.port, else SSHPortDefault.
func (s *ExternalServer) SSHPort() int32 {
	if s.SSH.Port != 0 {
		return s.SSH.Port
	}
	return SSHPortDefault
}

// SSHUser is the user to log in as: ssh.user, else SSHUserDefault.
func (s *ExternalServer) SSHUser() string {
	if s.SSH.User != "" {
		return s.SSH.User
	}
	return SSHUserDefault
}

// FailureDomain is the zone of the node for placement: its spec.zone, else a
// zone of its own, which no spec.zone can spell ("node/<name>").
func (n *GlusterNode) FailureDomain() string {
	if n.Spec.Zone != "" {
		return n.Spec.Zone
	}
	return "node/" + n.Name
}

// BricksDir is where the file systems of a pod's storage are mounted.
const BricksDir = "/bricks"

// IsPod reports whether the node is a pod, and not a server outside Kubernetes.
func (n *GlusterNode) IsPod() bool { return n.Spec.External == nil }

// PodName is the name of the node's pod, if it is one: the only one of the
// StatefulSet that has the node's name.
func (n *GlusterNode) PodName() string { return n.Name + "-0" }

// Address is the name by which peers, bricks and clients know the server. It
// never changes.
func (n *GlusterNode) Address() string {
	if n.Spec.External != nil {
		return n.Spec.External.Address
	}
	return fmt.Sprintf("%s.%s.%s.svc", n.PodName(), n.Spec.Cluster, n.Namespace)
}

// BrickDirs are the directories in which bricks may live.
func (n *GlusterNode) BrickDirs() []BrickDir {
	if n.Spec.External != nil {
		return n.Spec.External.BrickDirs
	}
	dirs := make([]BrickDir, 0, len(n.Spec.Storage))
	for i := range n.Spec.Storage {
		dirs = append(dirs, n.Spec.Storage[i].Dir())
	}
	return dirs
}

// Claims are the PersistentVolumeClaims that the node names: for its state, then
// for its storage.
func (n *GlusterNode) Claims() []string {
	var names []string
	if n.Spec.State != nil && n.Spec.State.PVCName != "" {
		names = append(names, n.Spec.State.PVCName)
	}
	for i := range n.Spec.Storage {
		if c := n.Spec.Storage[i].PVCName; c != "" {
			names = append(names, c)
		}
	}
	return names
}

// Dir is the directory for bricks on this storage.
func (s *Storage) Dir() BrickDir { return BrickDir(BricksDir + "/" + s.Name) }
