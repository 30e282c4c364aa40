package kube

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/executor"
)

func TestAnchorStore(t *testing.T) {
	const pool = "9f8e7d6c-0000-4000-8000-000000000001"
	cases := map[string]struct {
		reason string
		// between happens right before the n-th write of the anchor.
		between func(n int, c *v1alpha1.GlusterCluster)
		moved   bool
		want    int64 // fence in the end
	}{
		"Alone": {reason: "nobody else writes", between: func(int, *v1alpha1.GlusterCluster) {}, want: 7},
		"StatusWriters": {
			reason:  "whoever writes something else, again and again, is no rival",
			between: func(n int, c *v1alpha1.GlusterCluster) { c.Status.ObservedGeneration += int64(min(n, 3)) },
			want:    7,
		},
		"Rival": {
			reason:  "another fence is",
			between: func(n int, c *v1alpha1.GlusterCluster) { c.Status.Anchor.Fence = 9 },
			moved:   true, want: 9,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &v1alpha1.GlusterCluster{}
			c.Namespace, c.Name = "ns", "c1"
			c.Status.PoolID, c.Status.Anchor = pool, &v1alpha1.Anchor{Instance: "ns/op", Fence: 6, Seq: 1}
			scheme := runtime.NewScheme()
			if err := v1alpha1.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			plain := fake.NewClientBuilder().WithScheme(scheme).WithObjects(c).WithStatusSubresource(c).Build()
			writes := 0
			api := interceptor.NewClient(plain, interceptor.Funcs{SubResourcePatch: func(ctx context.Context, _ client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
				if writes++; writes <= 3 {
					now := &v1alpha1.GlusterCluster{}
					if err := plain.Get(ctx, client.ObjectKeyFromObject(c), now); err != nil {
						return err
					}
					tc.between(writes, now)
					if err := plain.Status().Update(ctx, now); err != nil {
						return err
					}
				}
				return plain.SubResource(sub).Patch(ctx, o, p, opts...)
			}})
			s := &AnchorStore{Roster: &Roster{Cache: plain}, Client: api}
			a, err := s.Load(t.Context(), pool)
			if err != nil {
				t.Fatal(err)
			}
			a.Fence = 7
			if err := s.Store(t.Context(), pool, a); errors.Is(err, executor.ErrAnchorMoved) != tc.moved || err != nil && !tc.moved {
				t.Errorf("%s: %v", tc.reason, err)
			}
			now := &v1alpha1.GlusterCluster{}
			if err := plain.Get(t.Context(), client.ObjectKeyFromObject(c), now); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tc.want, now.Status.Anchor.Fence); d != "" {
				t.Errorf("%s: fence (-want +got):\n%s", tc.reason, d)
			}
		})
	}
}
