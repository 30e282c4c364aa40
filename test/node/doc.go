// Package node tests what runs inside a Gluster pod: "anthill node run" as the
// first process of namespaces as a container has them, with real glusterd, real
// devices and the gate. There is no Kubernetes: the containers stand in the
// servers of package local, whose network, names and disks they have. It needs
// root.
package node
