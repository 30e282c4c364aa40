// Package api tests apis/ and deploy/ against a real kube-apiserver: which
// objects it accepts and refuses and in which words, that the documented
// samples are among those it accepts, and what the roles allow.
//
// The server is the one ANTHILL_TEST_KUBECONFIG points at, else one that
// test/local brings up (root is needed then).
package api
