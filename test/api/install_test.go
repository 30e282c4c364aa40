package api

import (
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// system is the namespace of the operator.
const system = "anthill-system"

// TestOperatorPod creates the pod that each installation describes, in the
// namespace it describes, which enforces the profile restricted.
func TestOperatorPod(t *testing.T) {
	for _, from := range []string{"deploy/install.yaml", "deploy/install-namespaced.yaml"} {
		t.Run(from, func(t *testing.T) {
			o := operatorPod(t, from)
			if _, err := objects.create(t.Context(), o, metav1.DryRunAll); err != nil {
				t.Errorf("the operator's pod is refused: %v", err)
			}
			// Else the server would not have looked.
			worse := o.DeepCopy()
			onlyContainer(t, worse)["securityContext"] = powerful()
			_, err := objects.create(t.Context(), worse, metav1.DryRunAll)
			if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "PodSecurity \"restricted") {
				t.Errorf("a pod with the capability SYS_ADMIN in %s: %v, want it refused by PodSecurity restricted", system, err)
			}
		})
	}
}

// TestOperatorContainer: what no admission asks for.
func TestOperatorContainer(t *testing.T) {
	wide, one := onlyContainer(t, operatorPod(t, "deploy/install.yaml")), onlyContainer(t, operatorPod(t, "deploy/install-namespaced.yaml"))
	for _, c := range []map[string]any{wide, one} {
		if ro, _ := lookup(c, "securityContext", "readOnlyRootFilesystem").(bool); !ro {
			t.Error("the root file system can be written")
		}
		for probe, path := range map[string]string{"livenessProbe": "/healthz", "readinessProbe": "/readyz"} {
			if got := lookup(c, probe, "httpGet", "path"); got != path {
				t.Errorf("%s asks %v, want %s", probe, got, path)
			}
		}
	}
	wideArgs, _, _ := unstructured.NestedStringSlice(wide, "args")
	oneArgs, _, _ := unstructured.NestedStringSlice(one, "args")
	if want := append(slices.Clone(wideArgs), "--namespace=gluster"); !slices.Equal(oneArgs, want) {
		t.Errorf("for one namespace the operator is started with %q, want %q", oneArgs, want)
	}
}

// TestGlusterNamespace: the namespace that the namespaced installation makes
// takes privileged pods, as those of glusterd are.
func TestGlusterNamespace(t *testing.T) {
	o := operatorPod(t, "deploy/install.yaml")
	o.SetNamespace("gluster")
	unstructured.RemoveNestedField(o.Object, "spec", "serviceAccountName")
	c := onlyContainer(t, o)
	c["securityContext"] = powerful()
	// The server makes a namespace's default account; here no controller does.
	account := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ServiceAccount", "metadata": map[string]any{"namespace": "gluster", "name": "default"},
	}}
	created(t, account)
	if _, err := objects.create(t.Context(), o, metav1.DryRunAll); err != nil {
		t.Errorf("a pod with the capability SYS_ADMIN in the namespace of clusters: %v", err)
	}
}

// operatorPod is the pod of an installation's StatefulSet.
func operatorPod(t *testing.T, from string) *unstructured.Unstructured {
	t.Helper()
	list, err := readInstallation(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range list {
		if o.GetKind() != "StatefulSet" {
			continue
		}
		spec, ok := lookup(o.Object, "spec", "template", "spec").(map[string]any)
		if !ok {
			t.Fatalf("%s: the StatefulSet has no template", from)
		}
		spec["volumes"] = []any{map[string]any{"name": "journal", "persistentVolumeClaim": map[string]any{"claimName": "journal-anthill-operator-0"}}}
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Pod",
			"metadata": map[string]any{"namespace": o.GetNamespace(), "name": o.GetName() + "-test"},
			"spec":     spec,
		}}
	}
	t.Fatalf("%s has no StatefulSet", from)
	return nil
}

// powerful is what neither restricted nor baseline allows. A container that is
// privileged is refused by an API server without nodes in any case.
func powerful() map[string]any {
	return map[string]any{"capabilities": map[string]any{"add": []any{"SYS_ADMIN"}}}
}

// onlyContainer is the only one of a pod.
func onlyContainer(t *testing.T, pod *unstructured.Unstructured) map[string]any {
	t.Helper()
	list, _ := lookup(pod.Object, "spec", "containers").([]any)
	if len(list) != 1 {
		t.Fatalf("the pod has %d containers, want one", len(list))
	}
	c, ok := list[0].(map[string]any)
	if !ok {
		t.Fatal("the pod's container is not one")
	}
	return c
}
