// Package v1alpha1 is what a user declares and what Anthill reports back: the
// kinds GlusterCluster, GlusterNode and GlusterVolume of the API group
// operator.gluster.org, their conditions and reasons, and the annotations and
// finalizer Anthill uses.
//
// Rules of this package:
//
//   - It holds types, markers and small pure functions on them; it imports
//     nothing of ours and does no I/O.
//   - A field that nothing implements is not here.
//   - Every rule a client can break alone is checked by the API server (schema
//     and CEL), with a message that says how to do it instead. What needs the
//     world to be judged (does the Secret exist, is the option dangerous on a
//     volume with data) ends in a condition.
//   - A spec belongs to the person who wrote it; Anthill never changes one.
//     Status is applied (server-side apply) only when its content changed.
//   - Everything is bounded: lists, maps and texts.
//
// zz_generated.deepcopy.go, applyconfiguration/ and deploy/crds/ are generated
// from here by `make generate manifests`.
//
// +kubebuilder:object:generate=true
// +kubebuilder:ac:generate=true
// +groupName=operator.gluster.org
package v1alpha1
