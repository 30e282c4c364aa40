// Package cluster runs a real Kubernetes on one Linux machine for the tests:
// etcd, kube-apiserver, controller manager, scheduler and CoreDNS on the host,
// and nodes with containerd, kubelet and kube-proxy. It stands on package local,
// whose environment it is, and can have that package's GlusterFS servers beside
// its nodes.
//
//	host       bridge 10.x.y.254: etcd, kube-apiserver :6443, CoreDNS :53
//	  |-- n1   10.x.y.201  own mount, pid, network, uts and ipc namespaces and root
//	  |-- n2   10.x.y.202  file system: containerd, kubelet, kube-proxy, pods in
//	  `-- n3   10.x.y.203  100.a.b.0/24 each
//
// A node's pid 1 is its life: SIGKILL of it takes kubelet, containers, mounts and
// loop devices along, as a pulled plug does, and its disk stays. hostPath volumes
// are folders of the node, not of the machine. Pods' memory is bounded by a control
// group per node.
//
// Storage classes: "movable" gives claims folders that every node sees, on a small
// file system of its own; "local-block" and "local-xfs" are for the devices that a
// test adds to a node, see Node.AddDevice.
//
// Images come from package image, binaries from package program; both are kept
// outside the checkout, and the first time takes some twenty minutes on two cores.
//
// With KUBECONFIG set nothing of this is started: Up returns the cluster it names,
// for tests that need no more than an API server with nodes.
package cluster
