package rig

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// SystemNamespace is where deploy/ puts the operator.
const SystemNamespace = "anthill-system"

// OperatorAccount is the operator's ServiceAccount.
const OperatorAccount = "anthill-operator"

// manifests are the folders and files of deploy/ in the order they go in.
var manifests = []string{"crds", "base/namespace.yaml", "rbac", "outside/binding.yaml"}

// Install applies the CRDs and roles of the checkout, as `kubectl apply -k
// deploy/outside` would, and waits until the kinds are served.
func Install(ctx context.Context, c client.Client, checkout string) error {
	for _, m := range manifests {
		files := []string{filepath.Join(checkout, "deploy", m)}
		if !strings.HasSuffix(m, ".yaml") {
			var err error
			if files, err = filepath.Glob(filepath.Join(files[0], "*.yaml")); err != nil {
				return err
			}
		}
		for _, f := range files {
			if filepath.Base(f) == "kustomization.yaml" {
				continue
			}
			if err := ApplyFile(ctx, c, f, ""); err != nil {
				return err
			}
		}
	}
	return awaitKinds(ctx, c)
}

// ApplyFile applies every object of a YAML file with server-side apply.
// namespace, if not empty, is where objects without one go.
func ApplyFile(ctx context.Context, c client.Client, file, namespace string) error {
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("applying: %w", err)
	}
	defer f.Close()
	d := yaml.NewYAMLOrJSONDecoder(f, 4096)
	for {
		var u unstructured.Unstructured
		if err := d.Decode(&u.Object); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading %q: %w", file, err)
		}
		if len(u.Object) == 0 {
			continue
		}
		if namespace != "" && u.GetNamespace() == "" {
			u.SetNamespace(namespace)
		}
		if err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(&u), client.FieldOwner("rig"), client.ForceOwnership); err != nil {
			return fmt.Errorf("applying %s %s of %q: %w", u.GetKind(), u.GetName(), file, err)
		}
	}
}

// awaitKinds waits until the API server serves the kinds.
func awaitKinds(ctx context.Context, c client.Client) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for _, kind := range []string{"GlusterCluster", "GlusterNode", "GlusterVolume"} {
		var l unstructured.UnstructuredList
		l.SetAPIVersion("operator.gluster.org/v1alpha1")
		l.SetKind(kind + "List")
		for {
			err := c.List(ctx, &l)
			if err == nil {
				break
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("waiting for the API server to serve %s: %w", kind, err)
			case <-time.After(100 * time.Millisecond):
			}
		}
	}
	return nil
}

// Namespace makes a namespace if there is none.
func Namespace(ctx context.Context, c client.Client, name string) error {
	ns := &corev1.Namespace{}
	ns.Name = name
	return client.IgnoreAlreadyExists(c.Create(ctx, ns))
}
