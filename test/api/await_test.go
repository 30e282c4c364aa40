package api

import (
	"context"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

// background is for what is done after a test's own context has ended.
var background = context.Background()

// awaitMax bounds the wait for the server's own caches.
const awaitMax = 20 * time.Second

// awaitRights waits until a user may, or may no longer, list a resource in a
// namespace: the authorizer reads roles from a cache.
func awaitRights(t *testing.T, user, group, resource, ns string, allowed bool) {
	t.Helper()
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	err = wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, awaitMax, true, func(ctx context.Context) (bool, error) {
		review, err := c.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
			Spec: authorizationv1.SubjectAccessReviewSpec{
				User:               user,
				ResourceAttributes: &authorizationv1.ResourceAttributes{Group: group, Resource: resource, Namespace: ns, Verb: "list"},
			},
		}, metav1.CreateOptions{})
		return err == nil && review.Status.Allowed == allowed, err
	})
	if err != nil {
		t.Fatalf("waiting until %s may list %s in %q (%v): %v", user, resource, ns, allowed, err)
	}
}
