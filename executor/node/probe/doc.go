// Package probe answers for a Gluster pod: whether its glusterd answers (Ready)
// and whether its first process serves (Alive). Both are asked every few seconds
// for as long as the pod lives, so they take no lock of glusterd's transactions
// and leave no line in its logs. Readiness is asked over HTTP, which costs no
// process. Liveness is a command: whatever keeps a kubelet from reaching a pod
// over the network must not make it kill one.
//
// The package imports nothing of ours and only the standard library, so that
// the command starts in a few milliseconds.
package probe
