// Package steps holds the steps that operations are made of, one per file, each
// registered under its name@major (planner/steps.go). A step looks at the world
// (Probe), checks its guards (Prepare) and makes one change (Act); it keeps
// nothing between calls. Everything it knows of an operation is in the Turn,
// everything it knows of the world it has just seen.
//
// Effects go through the gate of the server they happen on, so they are fenced
// and leave a receipt there. A gluster command goes to one originator, chosen
// by Prepare and journaled with its argv before Act runs.
package steps
