package kube

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/executor/kube/object"
)

// A Standing says how an object in Kubernetes compares with the one wanted.
type Standing struct {
	State StandingState
	Text  string // what is in the way, if something is
}

// A StandingState is one of the ways.
type StandingState int

// How an object stands.
const (
	Absent  StandingState = iota // there is none
	Fits                         // it is as wanted
	Differs                      // it is ours and can be brought in line
	Unfit                        // it is ours and cannot
	Taken                        // it is somebody else's
	Going                        // it is ours and is being deleted
)

// stand compares have with want, and brings what differs of have in line, in
// memory.
func stand(have, want client.Object) Standing {
	name := fmt.Sprintf("%s %s", want.GetObjectKind().GroupVersionKind().Kind, want.GetName())
	switch {
	case !object.IsOurs(have, want):
		return Standing{Taken, name + " is there, and Anthill did not make it for this"}
	case have.GetDeletionTimestamp() != nil:
		return Standing{Going, name + " is being deleted"}
	}
	changed, unfit := false, ""
	switch w := want.(type) {
	case *corev1.Service:
		changed, unfit = object.FitService(have.(*corev1.Service), w)
	case *corev1.PersistentVolumeClaim:
		unfit = object.UnfitClaim(have.(*corev1.PersistentVolumeClaim), w)
	case *appsv1.StatefulSet:
		changed, unfit = object.FitSet(have.(*appsv1.StatefulSet), w)
	}
	switch {
	case unfit != "":
		return Standing{Unfit, fmt.Sprintf("%s cannot be used: %s", name, unfit)}
	case changed:
		return Standing{Differs, name + " is another than declared"}
	}
	return Standing{Fits, name + " is there"}
}
