package steps

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/executor/kube"
	"github.com/gluster/anthill/planner"
)

// Pods is how steps see and change what nodes that are pods consist of.
// *kube.Pods is one. Reads are live; every change carries the identity and
// version of what was read, and none is made to what Anthill did not make.
// Safe for concurrent use.
type Pods interface {
	// Key names a node of a pool.
	Key(ctx context.Context, pool, node string) (kube.PodKey, error)
	// Look compares what is there with want, an object of kube/object.
	Look(ctx context.Context, want client.Object) (kube.Standing, error)
	// Make creates want or brings what is there in line with it. kube.ErrTaken
	// says that it is somebody else's.
	Make(ctx context.Context, want client.Object) error
	// Pod tells of a node's pod and of these claims.
	Pod(ctx context.Context, k kube.PodKey, claims []string) (kube.PodView, error)
	// DeletePod lets the pod go if it still is the one with this UID.
	DeletePod(ctx context.Context, k kube.PodKey, uid string) error
	// RemoveSet removes the node's StatefulSet, and nothing else.
	RemoveSet(ctx context.Context, k kube.PodKey) error

	// Kept says why the data of the node's cluster is to be kept, as its object
	// says at this moment; empty if it is to be removed.
	Kept(ctx context.Context, k kube.PodKey) (string, error)
	// Made is what Anthill made for the node's cluster.
	Made(ctx context.Context, k kube.PodKey) (*planner.Made, error)
	// Claim and RemoveClaim look at and remove one claim of the node, Service and
	// RemoveService the Service of its cluster: the one of this UID and no other.
	Claim(ctx context.Context, k kube.PodKey, ref planner.ObjectRef) (kube.Remnant, error)
	RemoveClaim(ctx context.Context, k kube.PodKey, ref planner.ObjectRef) error
	Service(ctx context.Context, k kube.PodKey, ref planner.ObjectRef) (kube.Remnant, error)
	RemoveService(ctx context.Context, k kube.PodKey, ref planner.ObjectRef) error
}

// podKey names the node of a step.
func (b base) podKey(ctx context.Context, t *executor.Turn, node string) (kube.PodKey, error) {
	k, err := b.w.Pods().Key(ctx, t.Scope(), node)
	if err != nil {
		return k, executor.Errorf(executor.Transient, "ClusterUnknown", "finding the cluster of the pool: %w", err)
	}
	return k, nil
}

// reasonNameTaken is of an object that is somebody else's; a person renames one
// of the two.
const reasonNameTaken = "NameTaken"

// stands makes an observation of how objects compare with the ones wanted; the
// first that is not as it should be counts.
func (b base) stands(ctx context.Context, wanted ...client.Object) (executor.Observation, error) {
	for _, want := range wanted {
		s, err := b.w.Pods().Look(ctx, want)
		if err != nil {
			return executor.Observation{}, apiError(err)
		}
		switch s.State {
		case kube.Fits:
		case kube.Absent:
			return seenAs(executor.NotDone, "%s %s is not there yet", kindOf(want), want.GetName()), nil
		case kube.Differs:
			return seenAs(executor.NotDone, "%s", s.Text), nil
		case kube.Taken:
			return seenAs(executor.Conflict, "%s: %s; it is left alone, delete it or choose another name", reasonNameTaken, s.Text), nil
		case kube.Unfit:
			return seenAs(executor.Conflict, "%s", s.Text), nil
		case kube.Going:
			return seenAs(executor.Unseen, "%s", s.Text), nil
		}
	}
	return executor.Observation{Verdict: executor.Done}, nil
}

func kindOf(o client.Object) string { return o.GetObjectKind().GroupVersionKind().Kind }

// apiError gives an error of the API server its class. An answer of the server
// that refuses proves that nothing was done; whoever got no answer does not know.
func apiError(err error) error {
	if err == nil {
		return nil
	}
	switch {
	case errors.Is(err, kube.ErrTaken):
		return executor.Errorf(executor.Permanent, reasonNameTaken, "%w", err)
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return executor.Errorf(executor.Permanent, "Refused", "%w", err)
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		// Rights can be given, and a quota raised.
		return executor.Errorf(executor.Transient, "Forbidden", "%w", err)
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err), apierrors.IsNotFound(err), apierrors.IsGone(err):
		return executor.Errorf(executor.Transient, "Changed", "%w", err)
	case apierrors.IsTooManyRequests(err), apierrors.IsServiceUnavailable(err):
		return executor.Errorf(executor.Transient, "ServerBusy", "%w", err)
	}
	return executor.Errorf(executor.Uncertain, "ReplyLost", "%w", err)
}
