package object

import corev1 "k8s.io/api/core/v1"

// readiness asks whether glusterd serves. It takes no lock of glusterd's, and
// soon notices one that died: the pod's other servants go on meanwhile.
func readiness() *corev1.Probe {
	return &corev1.Probe{ProbeHandler: run("ready"), PeriodSeconds: 5, TimeoutSeconds: 5, FailureThreshold: 2, SuccessThreshold: 1}
}

// liveness asks only whether the pod's first process does its work. A glusterd
// that hangs and bricks that heal are not for the kubelet to kill: it would take
// a copy out of service that may be the last good one.
func liveness() *corev1.Probe {
	return &corev1.Probe{ProbeHandler: run("alive"), InitialDelaySeconds: 10, PeriodSeconds: 10, TimeoutSeconds: 10, FailureThreshold: 6, SuccessThreshold: 1}
}

func run(question string) corev1.ProbeHandler {
	return corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{binary, "node", question}}}
}
