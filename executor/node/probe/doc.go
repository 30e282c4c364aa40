// Package probe answers for a Gluster pod: whether its glusterd answers (Ready)
// and whether its first process serves (Alive). Both are asked every few seconds
// for as long as the pod lives, so they start no process, take no lock of
// glusterd's transactions and leave no line in its logs.
//
// The package imports nothing of ours and only the standard library, so that
// the command starts in a few milliseconds.
package probe
