// Package program builds the programs that the tests run beside Anthill, each
// once per version for all checkouts of this machine. Those of Kubernetes and
// etcd are pinned in the module test/kube, whose versions it reads; the others
// are pinned here and built as their own modules say. All are linked
// statically: they run in root file systems that have no library of theirs.
package program
