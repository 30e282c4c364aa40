// Package node is the first process of a Gluster pod (Run): it mounts the
// devices this node owns, starts glusterd and starts it again when it ends,
// reaps whatever is left to it, and ends everything in good order when the pod
// is stopped. It decides nothing: what is formatted, and what is mounted for the
// first time, is the operator's to say, through the gate.
//
// It runs as process 1 of a container with a pid namespace of its own, on Linux,
// with the rights to mount. It refuses to run as anything else, since it ends
// every process it sees when it stops.
//
// glusterd needs no rpcbind and no init system. What it needs, and gets here:
//
//   - Zombies must go (LAB-4): a dead self-heal daemon that is not reaped still
//     counts as running, and commits fail.
//   - A brick's process finds its glusterd by the name of its own server. If that
//     name does not resolve at that moment the brick stays down for good, since
//     glusterd does not try again: so it is started when the name resolves, and
//     again if it had to be started without (obstacles.go). The names of peers
//     glusterd itself looks up again and again.
//   - A brick whose file system is not there stays down, and glusterd makes no
//     directory in its place; it too is started by a glusterd that starts again.
//   - The groups of options that its package brings lie below the pod's volume;
//     those that are not in it yet are copied there (groups.go).
//   - Pid files and sockets of an earlier glusterd in the same container disturb
//     no new one; those of an earlier container are taken away.
//
// The package imports the gate, the probes and a logger, and nothing else of
// ours.
package node
