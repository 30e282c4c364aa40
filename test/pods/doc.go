// Package pods proves Anthill where it is meant to run: installed from deploy/
// into a Kubernetes with real nodes, with glusterd in pods that it makes itself,
// and a client in a pod that mounts a volume through FUSE.
//
// The cluster is one of package cluster, or the one that KUBECONFIG names. There
// ANTHILL_OPERATOR_IMAGE and ANTHILL_NODE_IMAGE say where its nodes get the
// images, and ANTHILL_STORAGE_CLASS which class claims are of, the default one
// unless it is set; it must have file systems of its own for each claim. Tests
// that take the power from nodes, or the network, are skipped there.
//
// What is killed and when is random. ANTHILL_TEST_SEED=n does the same again,
// ANTHILL_TEST_FULL=1 kills more often.
package pods
