// Package gate is the one door through which a Gluster server is changed: a
// small program on the server that refuses operators with a lower fence and
// operators of another pool, owns the deadline of what it runs, survives a
// lost connection and leaves a receipt of every attempt.
//
// One process serves one request: JSON on standard input, a framed JSON reply
// on standard output (Encode). Handle is the program, Main its process, Client
// the other end, Unix and ServeUnix the same protocol on a socket.
//
// What the program keeps below Options.StateDir:
//
//	owner          who may change this server: two checksummed slots, see ownerFile
//	lock           flock'd by every mutation, inherited by its child, names its holder
//	receipts/A     one per attempt A, on disk before the effect begins
//	dirs/H         the mount identity of a registered brick directory
//	devices/N      which file system the device N of a pod has
//	tmp/           where glusterd puts the output of get-state
//
// Release calls the folder by that name and ".removed" while it removes it.
//
// Invariants: no effect without the lock, a fence at least as high as the
// recorded one and a receipt on disk; the lock is held until the last process
// that could still have the effect is gone, even if the gate itself is killed;
// a command line outside the lists in argv.go never runs; nothing leads out of
// a registered directory's file system.
//
// The package imports nothing of ours, starts no work at init and needs no
// cgo, so the program stays small and starts in a few milliseconds.
package gate
