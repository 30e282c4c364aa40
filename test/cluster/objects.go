package cluster

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
)

// corednsUser is as whom CoreDNS comes to the API server.
const corednsUser = "system:coredns"

// owner is as whom the objects of every cluster are applied.
const owner = "anthill-cluster"

//go:embed objects.yaml
var objectsYAML string

// resources are the kinds in objects.yaml.
var resources = map[string]schema.GroupVersionResource{
	"StorageClass":       {Group: "storage.k8s.io", Version: "v1", Resource: "storageclasses"},
	"ClusterRole":        {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"},
	"ClusterRoleBinding": {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterrolebindings"},
}

// applyObjects applies what every cluster has: storage classes, and the rights
// of CoreDNS.
func (e *Env) applyObjects(ctx context.Context) error {
	client, err := dynamic.NewForConfig(e.config)
	if err != nil {
		return fmt.Errorf("applying the cluster's objects: %w", err)
	}
	documents := yaml.NewYAMLOrJSONDecoder(strings.NewReader(objectsYAML), 4096)
	for {
		var raw runtime.RawExtension
		if err := documents.Decode(&raw); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading objects.yaml: %w", err)
		}
		var o unstructured.Unstructured
		if err := o.UnmarshalJSON(raw.Raw); err != nil {
			return fmt.Errorf("reading objects.yaml: %w", err)
		}
		_, err := client.Resource(resources[o.GetKind()]).Apply(ctx, o.GetName(), &o, metav1.ApplyOptions{FieldManager: owner, Force: true})
		if err != nil {
			return fmt.Errorf("applying %s %q: %w", o.GetKind(), o.GetName(), err)
		}
	}
}
