// Package planner decides what to do. It is pure: a Snapshot in, a Decision
// out; no I/O, no clock, no randomness, no goroutines, no logger. What the
// world looks like is in the Snapshot, gathered by others; what should happen
// is data for the journal; nothing here makes anything happen.
//
// Planning twice from the same Snapshot gives the same Decision, and planning
// from a Snapshot in which the first Decision's operations are open gives no
// further operations: their declared end state counts as if it were so.
//
// A cycle (Plan, in plan.go) goes like this:
//
//   - identity.go finds the pool's id and says of each server whether it may be
//     touched at all (S8); members.go finds who is in the pool and whether the
//     members see the same one (S7); recall.go adds what operations of this epoch
//     know of servers that status was not told of in time.
//   - volume.go and bricks.go match GlusterVolumes with what the pool has.
//   - supersede.go ends the open operations whose goal has vanished.
//   - procedures.go lists the goals of cluster, nodes and volumes; each is an
//     action in a file of its kind (clusteractions.go, nodeactions.go,
//     volumeactions.go, options.go) that compares and, where something is amiss,
//     drafts an operation. intent.go makes plans of drafts, or says why not.
//   - deletion.go and podgone.go bring volumes and nodes that are being deleted to
//     where they may go, protected.go says what keeps a volume. clustergone.go is
//     the cycle of a cluster that is being deleted, purge.go the removal of its
//     data.
//   - status.go and the *conditions.go files say what is seen.
//
// testdata holds the scenarios as transcripts that read without the code.
//
// The package imports apis, journal, journal/view and its own subpackages
// procedure, placement and option.
package planner
