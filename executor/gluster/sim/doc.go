// Package sim is a simulated pool: several glusterd with their peers, volumes,
// brick directories and processes, that take the same command lines as the real
// ones and answer with the same XML, texts and exit codes, and the gate of each
// server. It is held to GlusterFS 10.3 by a corpus of recorded transcripts
// (testdata/corpus, package corpus).
//
// A Pool is deterministic: ids come from its seed, time from its clock, and
// nothing happens but in calls. Without a real clock nothing ever blocks: a
// command that would wait for ever ends at its deadline at once, and the clock
// moves there.
//
// What it models beyond success: memory apart from disk in every glusterd, one
// transaction per volume at a time, transactions that wait for a stopped peer
// and commit when it wakes, commits on some servers only, marks left on brick
// directories by failed staging, friend handshakes by version and checksum.
// Rules inject the rest: lost replies, effects that come late or never.
//
// Served over unix sockets (Serve) it speaks the gate's protocol, one socket a
// server, so that an operator does not know the difference.
package sim
