// Package pods proves Anthill where it is meant to run: installed from deploy/
// into a Kubernetes with real nodes, with glusterd in pods that it makes itself,
// and a client in a pod that mounts a volume through FUSE.
//
// The cluster is one of package cluster, or the one that KUBECONFIG names. There
// ANTHILL_OPERATOR_IMAGE and ANTHILL_NODE_IMAGE say where its nodes get the
// images, and ANTHILL_STORAGE_CLASS which class claims are of, the default one
// unless it is set; it must have file systems of its own for each claim. What
// needs disks, images or names of hosts, or takes the power or the network from
// nodes, is skipped there.
//
// What is killed and when is random. ANTHILL_TEST_SEED=n does the same again,
// ANTHILL_TEST_FULL=1 kills more often.
//
// When all tests have passed, the operator's roles are held to what the audit log
// has of it, and it is uninstalled as README.md says.
package pods
