// Package controller is where custom resources, planner and journal meet. For
// one GlusterCluster at a time it gathers a planner.Snapshot, has it planned,
// appends what was decided to the journal and reports what is known in status,
// conditions and events.
//
// Invariants:
//
//   - It never acts on a pool. What it writes is finalizers, status and events
//     of our own kinds, and op.planned, op.superseded and op.cancelling in the
//     journal. The executor does the rest, on its own time.
//   - Nothing is remembered that a decision depends on: every cycle looks at
//     the cache, the journal and the servers anew. What is kept between cycles
//     only avoids writing or saying the same thing twice.
//   - Identities (pool and volume ids) are durable in status before a plan that
//     uses them is in the journal.
//   - A converged cluster is left alone: nothing is written to the API, nothing
//     to the journal.
//   - Every write has a precondition, or is an apply of fields nobody else
//     owns; every cycle has a deadline; clusters do not wait for each other.
//
// It imports planner, journal and apis, and knows the executor only through the
// narrow interfaces in deps.go.
package controller
