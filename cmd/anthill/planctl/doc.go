// Package planctl is `anthill plan`: what the operator would do for the world
// as it is, or for objects that are not applied yet, without doing it.
//
// It gathers as the operator does: objects from the API server, open
// operations from the journal, the servers through their gates. All of it only
// reads; a changed object is sent to the API server as a dry run, so that it is
// judged by the same rules as when it is applied. What is decided is decided by
// the planner itself.
package planctl
