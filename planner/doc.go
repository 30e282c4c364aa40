// Package planner decides what to do. It is pure: a Snapshot in, a Decision
// out; no I/O, no clock, no randomness, no goroutines, no logger. What the
// world looks like is in the Snapshot, gathered by others; what should happen
// is data for the journal; nothing here makes anything happen.
//
// Planning twice from the same Snapshot gives the same Decision, and planning
// from a Snapshot in which the first Decision's operations are open gives no
// further operations: their declared end state counts as if it were so.
package planner
