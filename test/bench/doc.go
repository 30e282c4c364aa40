// Command bench measures Anthill and prints one line per figure:
//
//	name value unit ratio target ok|short
//
// A dash stands where there is no ratio or no target; a figure without a target
// is always ok. Progress goes to standard error. The exit code is 1 only when a
// figure could not be measured: a machine that is too slow is no failure.
//
// Ratios are of two things measured in turn in the same run, so that a slow or
// busy machine slows both. What each figure means is in docs/benchmarks.md.
package main
