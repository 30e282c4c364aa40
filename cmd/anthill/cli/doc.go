// Package cli holds the conventions every anthill command keeps, so that they
// are written once: exit codes and one-line errors, usage errors that say what
// is accepted, output formats, tables, colour and the text of times and sizes.
//
// What a command prints on standard output is data and nothing else; notes and
// errors go to standard error. A table is the same on a terminal and in a pipe,
// colour apart, and never truncated. Text that came from outside (command
// output, names, reasons) passes through Line before it reaches a terminal.
//
// The package knows no journal, no cluster and no clock.
package cli
