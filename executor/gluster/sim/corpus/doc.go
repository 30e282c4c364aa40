// Package corpus runs transcripts of gluster commands against a pool, real or
// simulated. The transcripts (sim/testdata/corpus) were recorded from
// GlusterFS 10.3; the simulated pool and a real one must both give the same
// answers, which is what makes tests against the simulated one worth something.
//
// A transcript is a text in the format of github.com/cockroachdb/datadriven:
//
//	gluster s1
//	peer probe s2
//	----
//	exit 0, opRet 0, opErrno 0
//	output: success
//
// The command on the second line runs on s1. Besides "gluster" there are the
// acts of the machine: "mkdir", "rmdir", "mark", "kill", "start", "stop",
// "continue", "killbrick", "readonly" and "writable" with a server and a path,
// "passed", a wait for the end of a rebalance,
// "settle", which waits until every member sees the others as they are, and
// "history SERVER", the last line of its cmd_history.log.
//
// What differs from one pool to the next is put into words: UUIDs become U-s1
// for the server's own and ID-1, ID-2 in order of appearance for all others,
// ports, process ids, sizes and times are left out, options and peers are
// sorted, and gluster's guesses ("Did you mean") are cut.
//
// The package is for tests.
package corpus
