// Package podexec reaches the gates of servers that are pods, through the API
// server (pods/exec): by WebSocket, and by SPDY where that is refused.
//
// The commands are three constants: the gate, the installer and a question about
// it; what varies goes over standard input. A request leaves only after the
// shell in the container has said that it runs, so whatever fails before that,
// the API server, the kubelet or the container's runtime, did not reach a gate.
//
// What can be told apart, and how:
//
//	an error of Target.Check   the pod does not run: nobody was asked
//	UnreachableError           the command did not begin: nothing happened
//	gate.BusyError             all streams are taken
//	gate.ErrNotInstalled, gate.ErrNotStarted, and any other error: the reply was lost
//
// Every error of the first three kinds satisfies gate.NotStarted.
//
// The package imports gate only. A Pool runs one goroutine per command, which
// ends with the command's context; Close ends them all.
package podexec
