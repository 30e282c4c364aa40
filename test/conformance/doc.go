// Package conformance runs the corpus of recorded transcripts, that the
// simulated pool is held to, against real glusterd: both must give the same
// answers. It needs root.
//
// To record a transcript anew from the installed GlusterFS:
//
//	go test -C test ./conformance -run TestCorpus/peers.txt -args -rewrite
package conformance
