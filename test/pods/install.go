package pods

import (
	"bytes"
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

	"github.com/gluster/anthill/test/cluster"
)

// Placeholders of deploy/ for images.
const (
	operatorPlaceholder = "registry.example.com/anthill/operator:dev"
	nodePlaceholder     = "registry.example.com/anthill/node:dev"
)

// installMax bounds pulling the operator's image, making its claim and starting
// it.
const installMax = 3 * time.Minute

// journalMiB is the size of the device for the operator's journal in a cluster
// of ours; it takes no room until it is used.
const journalMiB = 2300

// Install applies deploy/install.yaml with the site's images, as a person would
// after replacing them, and waits until the operator is ready.
func (s *Site) Install(ctx context.Context) error {
	objects, err := s.manifest()
	if err != nil {
		return err
	}
	class, err := s.journalClass(ctx)
	if err != nil {
		return err
	}
	for _, o := range objects {
		if o.GetKind() == "StatefulSet" && class != "" {
			if err := setClass(o, class); err != nil {
				return err
			}
		}
		if err := s.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("pods"), client.ForceOwnership); err != nil {
			return fmt.Errorf("applying %s %s: %w", o.GetKind(), o.GetName(), err)
		}
	}
	return s.Operator.AwaitReady(ctx, installMax, "")
}

// manifest is deploy/install.yaml with the site's images.
func (s *Site) manifest() ([]*unstructured.Unstructured, error) {
	file := filepath.Join(s.Checkout, "deploy/install.yaml")
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("installing the operator: %w", err)
	}
	text := strings.NewReplacer(operatorPlaceholder, s.Env.OperatorImage(), nodePlaceholder, s.NodeImage()).Replace(string(raw))
	d := yaml.NewYAMLOrJSONDecoder(bytes.NewReader([]byte(text)), 4096)
	var out []*unstructured.Unstructured
	for {
		o := &unstructured.Unstructured{}
		if err := d.Decode(&o.Object); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, fmt.Errorf("reading %q: %w", file, err)
		}
		if len(o.Object) > 0 {
			out = append(out, o)
		}
	}
}

// journalClass is the storage class of the operator's journal; empty: the
// default one. In a cluster of ours it is a disk of the first node: the folders
// of the class movable belong to root, and the operator does not run as root.
func (s *Site) journalClass(ctx context.Context) (string, error) {
	if !s.Env.Ours() {
		return os.Getenv(storageClassVariable), nil
	}
	device, err := s.Env.Node(1).AddDevice("journal", journalMiB)
	if err != nil {
		return "", err
	}
	_, err = device.PersistentVolume(ctx, corev1.PersistentVolumeFilesystem)
	return cluster.ClassXFS, client.IgnoreAlreadyExists(err)
}

// setClass names the storage class in the only claim template of a StatefulSet.
func setClass(o *unstructured.Unstructured, class string) error {
	templates, found, err := unstructured.NestedSlice(o.Object, "spec", "volumeClaimTemplates")
	if err != nil || !found || len(templates) != 1 {
		return fmt.Errorf("the StatefulSet %s has %d claim templates, want one: %w", o.GetName(), len(templates), err)
	}
	template, ok := templates[0].(map[string]any)
	if !ok {
		return fmt.Errorf("the claim template of StatefulSet %s is no object", o.GetName())
	}
	if err := unstructured.SetNestedField(template, class, "spec", "storageClassName"); err != nil {
		return err
	}
	return unstructured.SetNestedSlice(o.Object, templates, "spec", "volumeClaimTemplates")
}
