// Package local runs the real thing on one Linux machine for the tests and the
// demo: etcd, kube-apiserver, and GlusterFS servers with their own sshd, brick
// file systems and network addresses. There are no nodes and no controllers:
// the operator under test runs beside them.
//
//	host          bridge 10.x.y.254: etcd :2379, kube-apiserver :6443
//	  |-- s1      10.x.y.1    own mount, pid, network, uts and ipc namespaces;
//	  |-- s2      10.x.y.2    sshd, glusterd, bricks; pid 1 is this program
//	  `-- c1      10.x.y.101  the same without daemons: one FUSE mount, a writer
//
// A server's root file system is a folder of the environment with /usr bound
// read-only, so nothing that happens on a server can change the host, and
// everything but /run and /tmp outlives a kill and start, as on a real disk.
// Its bricks are loop devices with XFS. A SIGKILL of its pid 1 takes processes,
// mounts, loop devices and links along.
//
// Names, addresses, links and folders come from the checkout's path and an
// instance name, so environments of several checkouts, or of a demo and the
// tests, live side by side. Every process is recorded in the state file before
// it does anything, and ended by process id and start time, never by name.
// What a killed run left behind is cleaned by the next Up or Down.
//
// All of it needs root; Preflight says what a machine lacks. Importing this
// package makes a program able to be started again as pid 1 of a server, see
// child.go.
package local
