package planctl

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/cmd/anthill/cli"
)

// Bounds of a file.
const (
	fileBytesMax   = 16 << 20
	fileObjectsMax = 10_000
)

// readObjects reads the objects of our kinds from YAML or JSON. A field that is
// not in the schema is an error: it is most likely misspelt.
func readObjects(r io.Reader, namespace string, notes io.Writer) ([]client.Object, error) {
	limited := &io.LimitedReader{R: r, N: fileBytesMax + 1}
	d := yaml.NewYAMLOrJSONDecoder(bufio.NewReader(limited), 4096)
	var out []client.Object
	for n := 1; ; n++ {
		var u unstructured.Unstructured
		err := d.Decode(&u.Object)
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case limited.N <= 0:
			return nil, cli.Usagef("the file is larger than %d bytes", fileBytesMax)
		case err != nil:
			return nil, cli.Usagef("object %d: %w", n, err)
		case n > fileObjectsMax:
			return nil, cli.Usagef("more than %d objects", fileObjectsMax)
		case len(u.Object) == 0:
			continue
		}
		o, err := typed(&u)
		if err != nil {
			return nil, cli.Usagef("object %d: %w", n, err)
		}
		if o == nil {
			_, _ = fmt.Fprintf(notes, "# skipped: %s/%s\n", cli.Line(u.GetKind()), cli.Line(u.GetName()))
			continue
		}
		if o.GetNamespace() == "" {
			o.SetNamespace(namespace)
		}
		out = append(out, o)
	}
}

// typed converts u, or returns nil if it is not of our group.
func typed(u *unstructured.Unstructured) (client.Object, error) {
	gvk := u.GroupVersionKind()
	if gvk.Group != v1alpha1.GroupVersion.Group {
		return nil, nil //nolint:nilnil // not ours, which is not wrong
	}
	var o client.Object
	switch gvk.Kind {
	case v1alpha1.KindCluster:
		o = &v1alpha1.GlusterCluster{}
	case v1alpha1.KindNode:
		o = &v1alpha1.GlusterNode{}
	case v1alpha1.KindVolume:
		o = &v1alpha1.GlusterVolume{}
	}
	if o == nil || gvk.Version != v1alpha1.GroupVersion.Version {
		return nil, fmt.Errorf("%s %s is not known: GlusterCluster, GlusterNode and GlusterVolume of %s are accepted", gvk.GroupVersion(), gvk.Kind, v1alpha1.GroupVersion)
	}
	if u.GetName() == "" {
		return nil, fmt.Errorf("%s without metadata.name", gvk.Kind)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(u.Object, o, true); err != nil {
		return nil, fmt.Errorf("%s/%s: %w", gvk.Kind, u.GetName(), err)
	}
	return o, nil
}

// dryRun asks the API server what o would be if it were applied: with the spec
// of o, the labels and annotations of both, and the status that is there.
func dryRun(ctx context.Context, c client.Client, o client.Object) (client.Object, error) {
	there := o.DeepCopyObject().(client.Object)
	err := c.Get(ctx, client.ObjectKeyFromObject(o), there)
	if apierrors.IsNotFound(err) {
		err := c.Create(ctx, o, client.DryRunAll)
		return o, refused(o, err)
	}
	if err != nil {
		return nil, refused(o, err)
	}
	switch there := there.(type) {
	case *v1alpha1.GlusterCluster:
		there.Spec = o.(*v1alpha1.GlusterCluster).Spec
	case *v1alpha1.GlusterNode:
		there.Spec = o.(*v1alpha1.GlusterNode).Spec
	case *v1alpha1.GlusterVolume:
		there.Spec = o.(*v1alpha1.GlusterVolume).Spec
	}
	there.SetLabels(merged(there.GetLabels(), o.GetLabels()))
	there.SetAnnotations(merged(there.GetAnnotations(), o.GetAnnotations()))
	return there, refused(o, c.Update(ctx, there, client.DryRunAll))
}

func merged(a, b map[string]string) map[string]string {
	if len(b) == 0 {
		return a
	}
	out := maps.Clone(a)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, b)
	return out
}

func refused(o client.Object, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s/%s would not be accepted: %w", kindOf(o), o.GetName(), err)
}

func kindOf(o client.Object) string {
	switch o.(type) {
	case *v1alpha1.GlusterCluster:
		return v1alpha1.KindCluster
	case *v1alpha1.GlusterNode:
		return v1alpha1.KindNode
	case *v1alpha1.GlusterVolume:
		return v1alpha1.KindVolume
	}
	return "object"
}
