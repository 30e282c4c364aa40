// Package conformance runs the corpus of recorded transcripts, that the
// simulated pool is held to, against real glusterd: both must give the same
// answers. It needs root.
//
// Each transcript takes half a minute or more; all of them run with
// ANTHILL_TEST_FULL=1, else those that go through the commands of a growing
// pool and of a member that is away.
//
// To record a transcript anew from the installed GlusterFS:
//
//	ANTHILL_TEST_FULL=1 go test -C test ./conformance -run TestCorpus/peers.txt -args -rewrite
package conformance
