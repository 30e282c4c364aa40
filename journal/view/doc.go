// Package view folds the journal's events into operations, steps, locks,
// tombstones and fences.
//
// The fold is pure: the same events give the same view, wherever the fold
// begins, and nothing is ever executed again by it. It never fails: an event
// this release does not understand marks its operation as alien, which may be
// shown but never carried out.
//
// Operations are values that never change once they were handed out: an event
// makes a changed copy. So a picture of the journal costs a few pointers, and
// readers need no locks. Callers must not change what they are given.
//
// The package reads no clock and does no input or output, but for [Tracker],
// which reads events from a journal. It imports the journal and nothing else
// of ours.
package view
