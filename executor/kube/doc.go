// Package kube is what the executor does in Kubernetes: it reads which servers
// a pool has and how to reach them (Roster), over ssh or into pods (Exec);
// makes, looks at and removes what nodes that are pods consist of (Pods,
// PodReader); tells what they can be placed on (Landscape); and keeps the anchor
// of each pool in its cluster's status (AnchorStore). It reads Secrets with single get
// requests and keeps their contents no longer than it takes to make an
// endpoint of them.
package kube
