package controller

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/planner"
)

// templates makes the nodes that the cluster's templates ask for, puts back what
// was edited in them, and deletes them when the cluster goes. It is logged, not
// journaled: it touches neither servers nor pods.
func (r *Reconciler) templates(ctx context.Context, c *cycle) error {
	var failed failures
	for i := range c.decision.TemplateNodes {
		failed.add(r.applyNode(ctx, c, &c.decision.TemplateNodes[i]))
	}
	for _, name := range c.decision.Remove {
		n := c.node(name)
		if n == nil || n.DeletionTimestamp != nil {
			continue
		}
		err := r.client.Delete(ctx, n, client.Preconditions{UID: &n.UID, ResourceVersion: &n.ResourceVersion})
		if client.IgnoreNotFound(err) != nil {
			failed.add(fmt.Errorf("deleting %s, which a template asked for: %w", short(n), err))
			continue
		}
		log.FromContext(ctx).Info("node of a template deleted", "object", short(n))
	}
	return failed.err()
}

func (r *Reconciler) applyNode(ctx context.Context, c *cycle, t *planner.TemplateNode) error {
	if have := c.node(t.Name); have != nil {
		n := have.DeepCopy()
		n.Spec = *t.Spec.DeepCopy()
		if err := r.client.Update(ctx, n, client.FieldOwner(v1alpha1.FieldOwner+"-template")); err != nil { // holds only for the version it was read in
			return fmt.Errorf("putting back what was edited in %s: %w", short(n), err)
		}
		log.FromContext(ctx).Info("node put back to what its template says", "object", short(n), "template", t.Template)
		return nil
	}
	n := &v1alpha1.GlusterNode{ObjectMeta: metav1.ObjectMeta{
		Namespace: c.key.Namespace, Name: t.Name,
		Annotations: map[string]string{v1alpha1.AnnotationTemplate: t.Template},
		Labels:      map[string]string{v1alpha1.LabelCluster: c.key.Name},
	}, Spec: *t.Spec.DeepCopy()}
	controllerutil.AddFinalizer(n, v1alpha1.Finalizer)
	switch err := r.client.Create(ctx, n, client.FieldOwner(v1alpha1.FieldOwner+"-template")); {
	case apierrors.IsAlreadyExists(err):
		return nil // the cache is behind: the next cycle sees it
	case err != nil:
		return fmt.Errorf("making %s for template %s: %w", short(n), t.Template, err)
	}
	log.FromContext(ctx).Info("node made for a template", "object", short(n), "template", t.Template)
	return nil
}

// node finds a node of the cycle; nil if there is none of that name.
func (c *cycle) node(name string) *v1alpha1.GlusterNode {
	for i := range c.nodes {
		if c.nodes[i].Name == name {
			return &c.nodes[i]
		}
	}
	return nil
}
