// Package procedure holds the contract between what should be and how it is
// brought about: Actions, the goals; Procedures, versioned and complete sets of
// them; and the List from which the one that fits a deployed configuration is
// picked.
//
// An Action reads a state and says whether its goal holds. It changes nothing:
// what would make it true it hands back as data. Within one cycle (one call of
// Procedure.Run) each Action runs at most once, however many others require it
// and however deep, after everything it requires; an unmet requirement leaves it
// Unknown without running. All that a cycle remembers dies with it, so a
// Procedure may be run by any number of goroutines at once.
//
// Results do not depend on the order in which Actions are listed. Cycles are
// refused when a Procedure is built.
//
// The package knows nothing of Gluster or Kubernetes and imports nothing of ours.
package procedure
