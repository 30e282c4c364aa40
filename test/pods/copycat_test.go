package pods

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/test/cluster"
	"github.com/gluster/anthill/test/rig"
)

// A copycat is a copy of the installed operator's StatefulSet under another name
// with a journal of its own, on the second host.
type copycat struct {
	site *Site
	set  *unstructured.Unstructured
	ref  cluster.PodRef
}

// second prepares a copy; nothing of it runs yet.
func (s *Site) second(t *testing.T, name string) *copycat {
	t.Helper()
	objects, err := s.manifest()
	must(t, err)
	for _, o := range objects {
		if o.GetKind() != "StatefulSet" {
			continue
		}
		name := "operator-" + name
		o.SetName(name)
		labels := map[string]any{"app.kubernetes.io/name": name}
		must(t, errors.Join(
			unstructured.SetNestedMap(o.Object, labels, "spec", "selector", "matchLabels"),
			unstructured.SetNestedMap(o.Object, labels, "spec", "template", "metadata", "labels"),
			unstructured.SetNestedMap(o.Object, map[string]any{corev1.LabelHostname: s.Env.Node(2).Name()}, "spec", "template", "spec", "nodeSelector"),
			setClass(o, cluster.ClassXFS)))
		device, err := s.Env.Node(2).AddDevice(name, journalMiB)
		must(t, err)
		_, err = device.PersistentVolume(t.Context(), corev1.PersistentVolumeFilesystem)
		must(t, err)
		b := &copycat{site: s, set: o, ref: cluster.PodRef{Namespace: rig.SystemNamespace, Pod: name + "-0", Container: operatorPod.Container}}
		t.Cleanup(func() {
			ctx := context.WithoutCancel(t.Context())
			must(t, b.stop(ctx))
			must(t, b.forget(ctx))
		})
		return b
	}
	t.Fatal("there is no StatefulSet in the manifest")
	return nil
}

// start runs the copy, with further arguments.
func (b *copycat) start(ctx context.Context, args ...string) error {
	o := b.set.DeepCopy()
	containers, _, err := unstructured.NestedSlice(o.Object, "spec", "template", "spec", "containers")
	if err != nil {
		return err
	}
	c, ok := containers[0].(map[string]any)
	if !ok {
		return errors.New("the container is no object")
	}
	all, _, err := unstructured.NestedStringSlice(c, "args")
	if err != nil {
		return err
	}
	if err := errors.Join(unstructured.SetNestedStringSlice(c, append(all, args...), "args"),
		unstructured.SetNestedSlice(o.Object, containers, "spec", "template", "spec", "containers")); err != nil {
		return err
	}
	return b.site.Client.Create(ctx, o)
}

// stop removes the copy and waits until its pod is gone. Its claim stays.
func (b *copycat) stop(ctx context.Context) error {
	if err := client.IgnoreNotFound(b.site.Client.Delete(ctx, b.set.DeepCopy())); err != nil {
		return fmt.Errorf("stopping %s: %w", b.set.GetName(), err)
	}
	return b.site.podGone(ctx, b.ref)
}

// forget removes the copy's claim, and with it its journal.
func (b *copycat) forget(ctx context.Context) error {
	claim := &corev1.PersistentVolumeClaim{}
	claim.Namespace, claim.Name = b.ref.Namespace, "journal-"+b.ref.Pod
	return client.IgnoreNotFound(b.site.Client.Delete(ctx, claim))
}

func (s *Site) podGone(ctx context.Context, ref cluster.PodRef) error {
	return (&trial{Site: s}).until(ctx, ref.String()+" is gone", func(ctx context.Context) error {
		err := s.Client.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Pod}, &corev1.Pod{})
		if err == nil {
			return errors.New("it is there")
		}
		return client.IgnoreNotFound(err)
	})
}

// scale says how many pods the installed operator has, and waits for that.
func (s *Site) scale(ctx context.Context, replicas int64) error {
	set := &unstructured.Unstructured{}
	set.SetAPIVersion("apps/v1")
	set.SetKind("StatefulSet")
	set.SetNamespace(operatorPod.Namespace)
	set.SetName(strings.TrimSuffix(operatorPod.Pod, "-0"))
	if err := s.Change(ctx, set, func() { _ = unstructured.SetNestedField(set.Object, replicas, "spec", "replicas") }); err != nil {
		return fmt.Errorf("scaling the operator to %d: %w", replicas, err)
	}
	if replicas == 0 {
		return s.podGone(ctx, operatorPod)
	}
	return s.Operator.AwaitReady(ctx, slow, "")
}

// pod is the copy's pod, once it has an address.
func (b *copycat) pod(t *testing.T, ref cluster.PodRef) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name = ref.Namespace, ref.Pod
	must(t, b.site.Await(t.Context(), slow, pod, func() string {
		if pod.Status.PodIP == "" || containerID(pod) == "" {
			return notReady(pod)
		}
		return ""
	}))
	return pod
}

// waits waits until the copy says, where kubelet asks and in its log, that it
// waits for something, and fails if it is ready all the same.
func (b *copycat) waits(t *testing.T, what string) { b.podWaits(t, b.ref, what) }

func (b *copycat) podWaits(t *testing.T, ref cluster.PodRef, what string) {
	t.Helper()
	pod := b.pod(t, ref)
	must(t, (&trial{Site: b.site}).until(t.Context(), ref.Pod+" says: "+what, func(ctx context.Context) error {
		status, said, err := get(ctx, "http://"+net.JoinHostPort(pod.Status.PodIP, "8081")+"/readyz")
		if err == nil && (status == http.StatusOK || !strings.Contains(said, "not ready: "+what)) {
			err = fmt.Errorf("it answers %d: %s", status, said)
		}
		if err != nil {
			return err
		}
		log, err := b.site.Env.Logs(ctx, ref, logLines)
		if err == nil && !strings.Contains(log, what) {
			err = fmt.Errorf("its log does not: %s", log)
		}
		return err
	}))
}

func get(ctx context.Context, url string) (status int, said string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 4096))
	return response.StatusCode, string(body), err
}

// waitsForTheLock starts an operator on the journal of the one that acts: it
// waits for its lock, on the same host as a claim of one host wants it.
func (b *copycat) waitsForTheLock(t *testing.T) {
	t.Helper()
	acting, err := b.site.Operator.Pod(t.Context())
	must(t, err)
	thief := &corev1.Pod{Spec: *acting.Spec.DeepCopy()}
	thief.Namespace, thief.Name = acting.Namespace, "thief-"+b.set.GetName()
	thief.Spec.Hostname, thief.Spec.Subdomain = "", ""
	must(t, b.site.Client.Create(t.Context(), thief))
	ref := cluster.PodRef{Namespace: thief.Namespace, Pod: thief.Name, Container: operatorPod.Container}
	b.podWaits(t, ref, "waiting for the journal")
	must(t, b.site.Client.Delete(t.Context(), thief, client.GracePeriodSeconds(1)))
	must(t, b.site.podGone(t.Context(), ref))
}

// head is the number of the last event of an operator's journal.
func (s *Site) head(t *testing.T, ref cluster.PodRef) journal.Seq {
	t.Helper()
	var stats struct{ Metadata struct{ HeadSeq journal.Seq } }
	must(t, (&trial{Site: s}).until(t.Context(), "the journal of "+ref.Pod+" can be read", func(ctx context.Context) error {
		out, err := s.Env.Exec(ctx, ref, anthill, "journal", "stats", "-o", "json")
		if err != nil {
			return err
		}
		return json.Unmarshal(out, &stats)
	}))
	return stats.Metadata.HeadSeq
}
