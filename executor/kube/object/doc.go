// Package object says what Anthill's objects in Kubernetes look like: pure
// functions that make a Service, claims and a StatefulSet of a step's
// parameters. The same parameters always make the same object.
//
// What a pod looks like for one planner.PodSpec may change only together with
// planner's podSpecVersion: the digest of running pods would otherwise stay, and
// none would ever be started anew.
package object
