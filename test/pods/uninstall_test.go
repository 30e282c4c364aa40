package pods

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// uninstallMax bounds taking away the operator and its namespace.
const uninstallMax = 3 * time.Minute

// uninstallCommand is what README.md says, word for word.
var uninstallCommand = []string{"kubectl", "delete", "-f", "deploy/install.yaml"}

// uninstall takes the operator away as README.md says, and compares what is in
// Kubernetes then with what was there before it was installed (R66).
func (s *Site) uninstall(ctx context.Context, before []string) error {
	ctx, cancel := context.WithTimeout(ctx, uninstallMax)
	defer cancel()
	readme, err := os.ReadFile(filepath.Join(s.Checkout, "README.md"))
	if err != nil {
		return err
	}
	if words := "`" + strings.Join(uninstallCommand, " ") + "`"; !strings.Contains(string(readme), words) {
		return fmt.Errorf("README.md does not say %s", words)
	}
	cmd := exec.CommandContext(ctx, s.Env.Local().APIServer.Kubectl(), uninstallCommand[1:]...)
	cmd.Dir = s.Checkout
	cmd.Env = append(os.Environ(), "KUBECONFIG="+s.Env.Kubeconfig())
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(uninstallCommand, " "), errors.Join(err, context.Cause(ctx)), out)
	}
	after, err := s.inventory(ctx, notOfTests)
	if err != nil {
		return err
	}
	var errs []error
	for _, o := range after {
		if !slices.Contains(before, o) {
			errs = append(errs, fmt.Errorf("left behind: %s", o))
		}
	}
	for _, o := range before {
		if !slices.Contains(after, o) {
			errs = append(errs, fmt.Errorf("gone too: %s", o))
		}
	}
	return errors.Join(errs...)
}

// volatile are kinds whose objects come and go by themselves.
var volatile = []string{"Event", "Lease", "EndpointSlice", "Endpoints", "ComponentStatus", "CSINode"}

// inventory lists the objects in Kubernetes that count, sorted.
func (s *Site) inventory(ctx context.Context, counts func(client.Object) bool) ([]string, error) {
	lists, err := s.Env.Client().Discovery().ServerPreferredResources()
	if err != nil {
		return nil, fmt.Errorf("listing the kinds of objects: %w", err)
	}
	var out []string
	for _, l := range lists {
		for i := range l.APIResources {
			r := &l.APIResources[i]
			if slices.Contains(volatile, r.Kind) || !slices.Contains(r.Verbs, "list") {
				continue
			}
			var list unstructured.UnstructuredList
			list.SetGroupVersionKind(schema.FromAPIVersionAndKind(l.GroupVersion, r.Kind+"List"))
			if err := s.Client.List(ctx, &list); err != nil {
				return nil, fmt.Errorf("listing %s of %s: %w", r.Kind, l.GroupVersion, err)
			}
			for i := range list.Items {
				if o := &list.Items[i]; counts(o) {
					out = append(out, fmt.Sprintf("%s %s %s/%s", l.GroupVersion, r.Kind, o.GetNamespace(), o.GetName()))
				}
			}
		}
	}
	slices.Sort(out)
	return out, nil
}

// notOfTests counts objects of no namespace, and of the namespaces that tests did
// not make. Disks that tests gave to hosts stay.
func notOfTests(o client.Object) bool {
	ns, kind := o.GetNamespace(), o.GetObjectKind().GroupVersionKind().Kind
	switch kind {
	case "PersistentVolume":
		return false
	case "Namespace":
		ns = o.GetName()
	}
	return ns == "" || ns == "default" || strings.HasPrefix(ns, "kube-") || ns == operatorPod.Namespace
}
