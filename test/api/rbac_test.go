package api

import (
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
)

const (
	gluster = "operator.gluster.org"
	events  = "events.k8s.io"
	leases  = "coordination.k8s.io"
)

// A right is one thing somebody may or may not do.
type right struct {
	group, resource, subresource string
	namespace                    string
	verbs                        []string
}

// TestOperatorRights asks the API server what the operator's identity may do,
// bound for all namespaces and bound for one.
func TestOperatorRights(t *testing.T) {
	const user = "system:serviceaccount:anthill-system:anthill-operator"
	watched := func(ns string) []right {
		var rights []right
		for _, r := range []string{"glusterclusters", "glusternodes", "glustervolumes"} {
			rights = append(rights,
				right{gluster, r, "", ns, []string{"get", "list", "watch", "patch"}},
				right{gluster, r, "status", ns, []string{"patch"}})
		}
		return append(rights,
			right{gluster, "glusternodes", "", ns, []string{"create", "update", "delete"}}, // of templates
			right{"", "secrets", "", ns, []string{"get"}},
			right{events, "events", "", ns, []string{"create", "patch"}},
			right{"", "services", "", ns, []string{"get", "create", "update", "delete"}},
			right{"", "persistentvolumeclaims", "", ns, []string{"get", "list", "watch", "create", "delete"}},
			right{"apps", "statefulsets", "", ns, []string{"get", "list", "watch", "create", "update", "delete"}},
			right{"", "pods", "", ns, []string{"get", "list", "watch", "delete"}},
			right{"", "pods", "exec", ns, []string{"create", "get"}},
			right{"", "events", "", ns, []string{"list"}})
	}
	never := []right{
		{gluster, "glusterclusters", "", "gluster", []string{"create", "update", "delete", "deletecollection"}},
		{gluster, "glusternodes", "", "gluster", []string{"deletecollection"}},
		{gluster, "glustervolumes", "", "gluster", []string{"create", "update", "delete", "deletecollection"}},
		{"", "secrets", "", "gluster", []string{"list", "watch", "create", "update", "patch", "delete"}},
		{"", "secrets", "", "", []string{"list", "watch"}},
		{"", "pods", "", "gluster", []string{"create", "update", "patch", "deletecollection"}},
		{"", "pods", "attach", "gluster", []string{"create", "get"}},
		{"", "services", "", "gluster", []string{"list", "watch", "patch", "deletecollection"}},
		{"", "persistentvolumeclaims", "", "gluster", []string{"update", "patch", "deletecollection"}},
		{"apps", "statefulsets", "", "gluster", []string{"patch", "deletecollection"}},
		{"apps", "statefulsets", "scale", "gluster", []string{"get", "update", "patch"}},
		{"", "configmaps", "", "anthill-system", []string{"get", "create"}},
		{"", "nodes", "", "", []string{"get", "watch", "update", "patch"}},
		{"storage.k8s.io", "storageclasses", "", "", []string{"get", "watch", "create", "update", "delete"}},
		{"", "persistentvolumes", "", "", []string{"get", "watch", "create", "update", "patch", "delete", "deletecollection"}},
		{leases, "leases", "", "gluster", []string{"get", "create", "update"}},
		{leases, "leases", "", "anthill-system", []string{"list", "watch", "delete"}},
		{"rbac.authorization.k8s.io", "clusterroles", "", "", []string{"get", "bind", "escalate"}},
		{"apiextensions.k8s.io", "customresourcedefinitions", "", "", []string{"get", "list", "update"}},
	}
	lease := right{leases, "leases", "", "anthill-system", []string{"get", "create", "update"}}
	// Of the whole Kubernetes, in both installations.
	landscape := []right{{"", "nodes", "", "", []string{"list"}}, {"storage.k8s.io", "storageclasses", "", "", []string{"list"}}}

	// Of the whole Kubernetes, of an operator for all namespaces only.
	volumes := right{"", "persistentvolumes", "", "", []string{"list"}}

	t.Run("ClusterWide", func(t *testing.T) {
		expect(t, user, true, append(watched("gluster"), append(watched("any-other"), lease, volumes)...)...)
		expect(t, user, true, landscape...)
		expect(t, user, false, never...)
	})
	t.Run("Namespaced", func(t *testing.T) {
		unbind(t, "anthill-operator", gluster, "glustervolumes")
		unbind(t, "anthill-operator-volumes", "", "persistentvolumes")
		expect(t, user, true, append(watched("gluster"), lease)...)
		expect(t, user, true, landscape...)
		expect(t, user, false, append(never, append(watched("any-other"), volumes)...)...)
	})
}

// TestUserRights: who may edit or view a namespace may do so with the storage
// declared in it, through the roles Kubernetes ships once its controller has
// aggregated ours; nobody may write status.
func TestUserRights(t *testing.T) {
	const ns = "gluster"
	bindUser(t, "anthill-editor", "test-editor", ns)
	bindUser(t, "anthill-viewer", "test-viewer", ns)
	for _, r := range []string{"glusterclusters", "glusternodes", "glustervolumes"} {
		expect(t, "test-editor", true, right{gluster, r, "", ns, []string{"create", "delete", "get", "list", "patch", "update", "watch"}})
		expect(t, "test-editor", false, right{gluster, r, "status", ns, []string{"patch", "update"}})
		expect(t, "test-viewer", true, right{gluster, r, "", ns, []string{"get", "list", "watch"}})
		expect(t, "test-viewer", false, right{gluster, r, "", ns, []string{"create", "delete", "patch", "update"}})
	}
	expect(t, "test-viewer", false, right{"", "secrets", "", ns, []string{"get"}})
	for role, label := range map[string]string{"anthill-editor": "edit", "anthill-viewer": "view"} {
		o, err := get(t, "ClusterRole", role)
		if err != nil {
			t.Fatal(err)
		}
		if o.GetLabels()["rbac.authorization.k8s.io/aggregate-to-"+label] != "true" {
			t.Errorf("%s is not aggregated to %s", role, label)
		}
	}
}

// expect checks what a user may do.
func expect(t *testing.T, user string, allowed bool, rights ...right) {
	t.Helper()
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rights {
		for _, verb := range r.verbs {
			review, err := c.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), &authorizationv1.SubjectAccessReview{
				Spec: authorizationv1.SubjectAccessReviewSpec{
					User: user,
					ResourceAttributes: &authorizationv1.ResourceAttributes{
						Group: r.group, Resource: r.resource, Subresource: r.subresource, Namespace: r.namespace, Verb: verb,
					},
				},
			}, metav1.CreateOptions{})
			if err != nil {
				t.Fatalf("asking whether %s may %s: %v", user, verb, err)
			}
			if review.Status.Allowed != allowed {
				t.Errorf("may %s %s %s/%s %q in %q: %v, want %v", user, verb, r.group, r.resource, r.subresource, r.namespace, review.Status.Allowed, allowed)
			}
		}
	}
}

func rbacObject(kind, name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind,
		"metadata": map[string]any{"name": name},
	}}
}

func get(t *testing.T, kind, name string) (*unstructured.Unstructured, error) {
	t.Helper()
	r, err := objects.resource(rbacObject(kind, name).GroupVersionKind(), "")
	if err != nil {
		return nil, err
	}
	return r.Get(t.Context(), name, metav1.GetOptions{})
}

// unbind takes a ClusterRoleBinding away for the length of a test, and waits
// until the server acts on it: the operator may no longer list a resource.
func unbind(t *testing.T, name, group, resource string) {
	t.Helper()
	was, err := get(t, "ClusterRoleBinding", name)
	if err != nil {
		t.Fatal(err)
	}
	if err := objects.delete(t.Context(), was); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		was.SetResourceVersion("")
		was.SetUID("")
		was.SetManagedFields(nil)
		if _, err := objects.create(background, was); err != nil {
			t.Errorf("binding %q again: %v", name, err)
		}
	})
	awaitRights(t, "system:serviceaccount:anthill-system:anthill-operator", group, resource, "any-other", false)
}

// bindUser binds a ClusterRole to a user in a namespace, for the length of a
// test, and waits until the server acts on it.
func bindUser(t *testing.T, role, user, ns string) {
	t.Helper()
	o := rbacObject("RoleBinding", "test-"+user)
	o.SetNamespace(ns)
	o.Object["roleRef"] = map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role}
	o.Object["subjects"] = []any{map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}}
	created(t, o)
	awaitRights(t, user, gluster, "glustervolumes", ns, true)
}
