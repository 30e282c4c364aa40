// Package gluster is the typed client of the gluster command line: arguments,
// XML replies, error classes, the parser of get-state and of cmd_history.log.
// It runs nothing itself; a Runner does, on one server.
//
// A reply is clean only with exit 0 and opRet 0, and a clean reply proves
// nothing: only what a later look at the pool sees is success. Every other
// reply becomes an *Error whose Verdict and Class come from the one table in
// class_table.go. All texts and XML are those of GlusterFS 10.3, captured in
// testdata/10.3.
//
// Callers that journal a command before it runs take its argv from the Argv
// functions and hand the same argv to Client.Mutate.
//
// The package imports nothing of ours.
package gluster
