// Package e2e tests what a user gets: custom resources go in, and real servers,
// a real API server and the real operator binary do the rest. What is asserted
// is what can be seen from outside: conditions, gluster's own view, glusterd's
// history of commands, the servers' files, checksums on a FUSE mount, and the
// journal.
//
// All tests share one environment and one operator. Most work on one pool of
// three servers, made by the first test that needs it; the others are taken as
// fresh ones. A test that fails prints the operator's account of it, and the
// next one gets a new pool.
package e2e
