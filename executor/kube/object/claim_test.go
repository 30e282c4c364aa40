package object

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gluster/anthill/planner"
)

func TestUnfitClaim(t *testing.T) {
	block, other := corev1.PersistentVolumeBlock, "slow"
	cases := map[string]struct {
		reason string
		edit   func(c *corev1.PersistentVolumeClaim)
		unfit  bool
	}{
		"Same":    {"as it was made", func(*corev1.PersistentVolumeClaim) {}, false},
		"Grown":   {"somebody gave it more", func(c *corev1.PersistentVolumeClaim) { size(c, "2Gi") }, false},
		"Smaller": {"it holds less than planned", func(c *corev1.PersistentVolumeClaim) { size(c, "1Mi") }, true},
		"Class":   {"it is on other disks", func(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = &other }, true},
		"NoClass": {"nobody knows where it is", func(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = nil }, true},
		"Mode":    {"it would be used in another way", func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeMode = &block }, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := planner.ClaimsParams{Node: "n1", Claims: []planner.Claim{{Name: "n1-b1", Class: "fast", Size: "1Gi"}}}
			have, err := Claims("ns", "c1", p)
			if err != nil {
				t.Fatal(err)
			}
			want, _ := Claims("ns", "c1", p)
			tc.edit(have[0])
			if why := UnfitClaim(have[0], want[0]); (why != "") != tc.unfit {
				t.Errorf("%s: %q", tc.reason, why)
			}
		})
	}
}

func size(c *corev1.PersistentVolumeClaim, s string) {
	c.Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse(s)
}
