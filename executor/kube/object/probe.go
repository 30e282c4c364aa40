package object

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// What `anthill node run` answers, see package probe.
const (
	readyPort = 24006
	readyPath = "/ready"
	aliveVerb = "alive"
)

// readiness asks whether glusterd serves. It takes no lock of glusterd's, and
// soon notices one that died: the pod's other servants go on meanwhile.
func readiness() *corev1.Probe {
	ask := corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Scheme: corev1.URISchemeHTTP, Path: readyPath, Port: intstr.FromInt32(readyPort)}}
	return &corev1.Probe{ProbeHandler: ask, PeriodSeconds: 5, TimeoutSeconds: 6, FailureThreshold: 2, SuccessThreshold: 1}
}

// liveness asks only whether the pod's first process does its work. A glusterd
// that hangs and bricks that heal are not for the kubelet to kill: it would take
// a copy out of service that may be the last good one. Nor is a pod that cannot
// be reached over the network: so it is a command, and a rare one, since each
// costs a process in the container.
func liveness() *corev1.Probe {
	ask := corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{binary, "node", aliveVerb}}}
	return &corev1.Probe{ProbeHandler: ask, InitialDelaySeconds: 10, PeriodSeconds: 30, TimeoutSeconds: 10, FailureThreshold: 3, SuccessThreshold: 1}
}
