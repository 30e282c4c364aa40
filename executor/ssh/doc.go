// Package ssh reaches the gates of external servers: one connection a server,
// at most eight sessions on it, host keys given beforehand and never learned.
//
// A Pool keeps the connections; Pool.Server is the gate.Server of one Endpoint.
// The commands sent are two constants, the gate's path and the installer; what
// varies goes over standard input, so nothing is ever quoted for a shell.
//
// What can be told apart, and how:
//
//	UnreachableError  no connection, or lost before a login: nothing happened
//	HostKeyError      somebody else answers at the address: nothing was said to it
//	LoginError        the server refuses the user or key
//	KeyError          the key or a host key line cannot be read: nobody was asked
//	gate.BusyError    all sessions are taken
//	gate.ErrNotInstalled, gate.ErrNotStarted, and any other error: the reply was lost
//
// Every error of the first five kinds satisfies gate.NotStarted. Private keys
// appear in no error, log or String.
//
// The package imports gate only. A Pool runs one goroutine per connection, for
// keepalive, and one per exchange; Close ends them all.
package ssh
