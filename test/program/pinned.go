package program

// The programs that a node runs beside those of Kubernetes, at pinned versions.
var (
	// Containerd has the runtime, its shim and ctr. Its file system drivers that
	// need C libraries are left out.
	Containerd = Program{
		Name: "containerd", Module: "github.com/containerd/containerd/v2", pinned: "v2.4.2",
		tags:     "no_btrfs no_devmapper no_zfs",
		packages: []string{"cmd/containerd", "cmd/containerd-shim-runc-v2", "cmd/ctr"},
	}
	// Runc starts containers. Entering namespaces is C, and so is filtering system
	// calls, without which no pod of the profile restricted starts.
	Runc = Program{
		Name: "runc", Module: "github.com/opencontainers/runc", pinned: "v1.5.2", variant: "seccomp",
		cgo: true, tags: "seccomp", packages: []string{""},
	}
	// CNI has the plugins that a bridge per node needs.
	CNI = Program{
		Name: "cni", Module: "github.com/containernetworking/plugins", pinned: "v1.10.0",
		packages: []string{"plugins/main/bridge", "plugins/main/loopback", "plugins/ipam/host-local", "plugins/meta/portmap"},
	}
	// CoreDNS resolves the names of services.
	CoreDNS = Program{Name: "coredns", Module: "github.com/coredns/coredns", pinned: "v1.15.0", packages: []string{""}}
)

// Kube is the program of that name in test/kube: a command of Kubernetes, or etcd.
func Kube(checkout, name string) Program {
	p := Program{Name: name, Module: "k8s.io/kubernetes", checkout: checkout, packages: []string{"cmd/" + name}}
	if name == "etcd" {
		p.Module, p.packages = "go.etcd.io/etcd/server/v3", []string{""}
	}
	return p
}
