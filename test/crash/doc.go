// Package crash proves that nothing is lost, done twice or left half done,
// whatever dies and whenever: the operator at every one of its crash points and
// at random moments, a gluster command on its server, the connection under it,
// a glusterd that hangs, the journal's file, its disk, and a second operator
// that believes it is the first.
//
// The sweeps run the real binary against simulated pools, everything else
// against real servers. What is random comes from a seed that is printed;
// ANTHILL_TEST_SEED=n runs the same again. ANTHILL_TEST_FULL=1 runs whole
// matrices instead of samples.
package crash
