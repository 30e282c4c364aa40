package api

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/gluster/anthill/cmd/anthill/manager"
	"github.com/gluster/anthill/executor/kube"
	"github.com/gluster/anthill/executor/kube/object"
)

// What the manager caches can be watched with the operator's rights, in one
// namespace too, and shows a pod as soon as it is there; claims of a person and
// objects that are somebody else's are seen as well.
func TestPodCache(t *testing.T) {
	admin := typedClient(t, config)
	ns := freshNamespace(t, admin)
	live := typedClient(t, asOperator())
	pods := &kube.Pods{Client: live}
	byObject, err := manager.Cached()
	if err != nil {
		t.Fatal(err)
	}
	c, err := cache.New(asOperator(), cache.Options{Scheme: live.Scheme(), ByObject: byObject, DefaultNamespaces: map[string]cache.Config{ns: {}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	done := make(chan error, 1)
	go func() { done <- c.Start(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	if !c.WaitForCacheSync(ctx) {
		t.Fatal("the cache did not start")
	}
	reader := &kube.PodReader{Cache: c, Live: live}
	k := kube.PodKey{Namespace: ns, Cluster: "c1", Node: "n1"}
	look := func() kube.PodView {
		t.Helper()
		v, err := reader.Look(ctx, k, []string{"by-hand"})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if v := look(); v.Declared || v.Foreign || len(v.Claims) != 0 {
		t.Errorf("nothing is there: %+v", v)
	}
	class := ""
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "by-hand"}, Spec: corev1.PersistentVolumeClaimSpec{
		StorageClassName: &class, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}}}}
	runs(t, admin.Create(ctx, claim))
	pod := madePod(t, admin, pods, ns)
	v := look()
	for until := time.Now().Add(awaitMax); time.Now().Before(until) && (v.UID == "" || len(v.Claims) == 0); v = look() {
		time.Sleep(20 * time.Millisecond)
	}
	if v.UID != string(pod.UID) || !v.Declared || v.Runs != podParams("i:1").Digest || len(v.Claims) != 1 {
		t.Errorf("%+v", v)
	}
	// Somebody else's StatefulSet is in no cache of ours.
	other := object.Set(ns, podParams("i:1"))
	other.Name, other.Labels = "n2", nil
	runs(t, admin.Create(ctx, other))
	k.Node = "n2"
	if v := look(); !v.Foreign {
		t.Errorf("somebody else's: %+v", v)
	}
}
