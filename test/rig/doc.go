// Package rig puts the operator under test beside an environment of package
// local: it builds the real binary, installs CRDs and roles, and runs the
// operator as a process with the rights of its ServiceAccount and nothing more.
// Tests and the demo stand on it.
package rig
