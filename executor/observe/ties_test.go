package observe

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/executor/kube"
)

// users has one PersistentVolume more each time it is asked.
type users struct {
	client.Reader
	asked int
}

func (u *users) List(_ context.Context, l client.ObjectList, _ ...client.ListOption) error {
	u.asked++
	for range u.asked {
		l.(*metav1.PartialObjectMetadataList).Items = append(l.(*metav1.PartialObjectMetadataList).Items,
			metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "pv", Labels: map[string]string{v1alpha1.LabelVolume: "v1"}}})
	}
	return nil
}

// What depends on what is being deleted is of this moment, however often, and by
// whomever, the pool is looked at meanwhile.
func TestTiesAreNeverOld(t *testing.T) {
	w := newWorld(1)
	c := w.cache()
	if got := c.Leaving(t.Context(), &w.cluster); got != nil {
		t.Errorf("nobody could be asked, and it is told: %+v", got)
	}
	c.Observer.Ties = &kube.Ties{Live: &users{}}
	for n := 1; n <= 3; n++ {
		if got := c.Leaving(t.Context(), &w.cluster); len(got.Users["v1"]) != n {
			t.Errorf("time %d: %+v", n, got)
		}
		c.Pool(t.Context(), &w.cluster, w.nodes)
	}
}
