package v1alpha1

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
