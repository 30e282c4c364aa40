// Package journal is a durable, hash-chained, append-only store of events in
// one bbolt file. It is the only thing planner and executor share: what is
// meant to be done is written here before it is done, what was seen is written
// after.
//
// # What it promises
//
//   - An [Journal.Append] that returned nil is on stable storage, whole, in the
//     order of its sequence numbers; one that returned an error wrote nothing,
//     or the process has ended.
//   - Sequence numbers are dense. Every event carries the epoch of the process
//     that wrote it, and exactly one process writes at a time.
//   - The stored bytes of an event are covered by a chain of SHA-256 sums: a
//     changed, lost or reordered event is found by [Open] and by [Verify].
//   - Indexes and projections are written in the transaction of the event they
//     follow from and are a pure function of the events.
//   - An event that contradicts the operation's history is refused before
//     anything is written ([ErrIllegal]).
//   - A damaged file is an error ([ErrCorrupt]), never a panic or a hang.
//
// # Reading while the writer runs
//
// The process that appends serves readers on a unix socket ([Serve], [Dial]).
// Without it a file is read under a shared lock ([OpenReader]). Both are a
// [Reader].
//
// The file's format, its limits and what it assumes of the disk are specified
// in README.md beside this file.
//
// This package knows neither Gluster nor Kubernetes and imports nothing of
// ours. The rich fold of events into operations is journal/view.
package journal
