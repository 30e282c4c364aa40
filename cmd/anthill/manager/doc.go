// Package manager is `anthill manager`: it opens the journal, becomes the one
// operator that may act, and wires planner, executor and API server together.
//
// The order is that of recovery, and each step comes only after the one before
// succeeded: health endpoints, journal opened and verified, its socket served,
// API server reached, lease held, epoch opened, steps in doubt marked, then
// executor and controllers. Nothing that is pending keeps it from starting, and
// readiness never waits for gluster.
//
// What ends the process: a signal (status 0, after what is under way has
// returned), a lost lease, another process of the same instance that has taken
// over a pool, a journal of a newer release, a commit with unknown outcome.
package manager
