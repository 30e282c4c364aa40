package api

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// config reaches the API server under test, as an administrator.
var config *rest.Config

// objects reads and writes any object of it.
var objects *client

// namespace is a fresh one for this run.
var namespace string

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "test/api:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	c, down, err := apiServer(ctx)
	if down != nil {
		defer func() { err = errors.Join(err, down()) }()
	}
	if err != nil {
		return 1, fmt.Errorf("bringing up an API server: %w", err)
	}
	config = rest.CopyConfig(c)
	config.QPS = -1 // the server's own fairness is limit enough
	if objects, err = newClient(config); err != nil {
		return 1, err
	}
	if err := install(ctx); err != nil {
		return 1, err
	}
	made, err := objects.create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace",
		"metadata": map[string]any{"generateName": "anthill-test-"},
	}})
	if err != nil {
		return 1, fmt.Errorf("creating a namespace: %w", err)
	}
	namespace = made.GetName()
	defer func() { err = errors.Join(err, objects.delete(context.WithoutCancel(ctx), made)) }()
	return m.Run(), nil
}

// installations are what deploy/ can be applied as: folders with a kustomization,
// and files.
var installations = []string{"deploy/outside", "deploy/install.yaml", "deploy/install-namespaced.yaml"}

// install applies every installation of deploy/ and waits until the kinds are
// served.
func install(ctx context.Context) error {
	for _, from := range installations {
		list, err := readInstallation(from)
		if err != nil {
			return err
		}
		for _, o := range list {
			if _, err := objects.apply(ctx, o); err != nil {
				return fmt.Errorf("applying %s %q of %s: %w", o.GetKind(), o.GetName(), from, err)
			}
		}
	}
	for _, kind := range []string{"GlusterCluster", "GlusterNode", "GlusterVolume"} {
		err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
			_, err := objects.list(ctx, schema.FromAPIVersionAndKind(groupVersion, kind))
			return err == nil, nil
		})
		if err != nil {
			return fmt.Errorf("waiting for %s to be served: %w", kind, err)
		}
	}
	return nil
}

const groupVersion = "operator.gluster.org/v1alpha1"

// A client finds the resource of an object by its kind.
type client struct {
	dynamic dynamic.Interface
	mapper  *restmapper.DeferredDiscoveryRESTMapper
}

func newClient(c *rest.Config) (*client, error) {
	d, err := dynamic.NewForConfig(c)
	if err != nil {
		return nil, err
	}
	disco, err := discovery.NewDiscoveryClientForConfig(c)
	if err != nil {
		return nil, err
	}
	return &client{d, restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(disco))}, nil
}

func (c *client) resource(gvk schema.GroupVersionKind, ns string) (dynamic.ResourceInterface, error) {
	m, err := c.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if meta.IsNoMatchError(err) { // defined since the last look
		c.mapper.Reset()
		m, err = c.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	}
	if err != nil {
		return nil, err
	}
	if m.Scope.Name() == meta.RESTScopeNameRoot {
		return c.dynamic.Resource(m.Resource), nil
	}
	if ns == "" {
		ns = namespace
	}
	return c.dynamic.Resource(m.Resource).Namespace(ns), nil
}

func (c *client) create(ctx context.Context, o *unstructured.Unstructured, dryRun ...string) (*unstructured.Unstructured, error) {
	r, err := c.resource(o.GroupVersionKind(), o.GetNamespace())
	if err != nil {
		return nil, err
	}
	return r.Create(ctx, o, metav1.CreateOptions{DryRun: dryRun, FieldValidation: metav1.FieldValidationStrict})
}

func (c *client) update(ctx context.Context, o *unstructured.Unstructured, dryRun ...string) (*unstructured.Unstructured, error) {
	r, err := c.resource(o.GroupVersionKind(), o.GetNamespace())
	if err != nil {
		return nil, err
	}
	return r.Update(ctx, o, metav1.UpdateOptions{DryRun: dryRun, FieldValidation: metav1.FieldValidationStrict})
}

func (c *client) apply(ctx context.Context, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	r, err := c.resource(o.GroupVersionKind(), o.GetNamespace())
	if err != nil {
		return nil, err
	}
	return r.Apply(ctx, o.GetName(), o, metav1.ApplyOptions{FieldManager: "test-api", Force: true})
}

func (c *client) applyStatus(ctx context.Context, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	r, err := c.resource(o.GroupVersionKind(), o.GetNamespace())
	if err != nil {
		return nil, err
	}
	return r.ApplyStatus(ctx, o.GetName(), o, metav1.ApplyOptions{FieldManager: "test-api", Force: true})
}

func (c *client) list(ctx context.Context, gvk schema.GroupVersionKind, selector ...string) ([]unstructured.Unstructured, error) {
	r, err := c.resource(gvk, "")
	if err != nil {
		return nil, err
	}
	l, err := r.List(ctx, metav1.ListOptions{FieldSelector: strings.Join(selector, ",")})
	if err != nil {
		return nil, err
	}
	return l.Items, nil
}

func (c *client) delete(ctx context.Context, o *unstructured.Unstructured) error {
	r, err := c.resource(o.GroupVersionKind(), o.GetNamespace())
	if err != nil {
		return err
	}
	err = r.Delete(ctx, o.GetName(), metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// created makes an object for the length of a test.
func created(t *testing.T, o *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	made, err := objects.create(t.Context(), o)
	if err != nil {
		t.Fatalf("creating %s %q: %v", o.GetKind(), o.GetName(), err)
	}
	t.Cleanup(func() {
		if err := objects.delete(context.WithoutCancel(t.Context()), made); err != nil {
			t.Errorf("deleting %s %q: %v", made.GetKind(), made.GetName(), err)
		}
	})
	return made
}

// refusal is what the server said against an object: every cause, one a line;
// empty if it accepted it. Any error but a refusal is returned.
func refusal(err error) (string, error) {
	if err == nil {
		return "", nil
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
		return "", err
	}
	s := status.Status()
	lines := []string{s.Message}
	if s.Details != nil {
		for _, cause := range s.Details.Causes {
			lines = append(lines, cause.Field+": "+cause.Message)
		}
	}
	return strings.Join(lines, "\n"), nil
}
