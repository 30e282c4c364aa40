// Package kubetest is a Kubernetes for tests that need pods and have no kubelet:
// the objects of a fake API server, and as much of the StatefulSet controller,
// the scheduler and the kubelet as turns a StatefulSet into a pod that runs. It
// does nothing by itself: Tick is one round of all of them.
//
// The API server can be told to fail (Fail), and counts what had an effect.
package kubetest
