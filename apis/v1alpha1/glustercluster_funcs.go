package v1alpha1

// Purges reports whether deleting the cluster is meant to remove its data. That
// it may be removed takes DeleteConfirmed too.
func (c *GlusterCluster) Purges() bool { return c.Spec.DeletionPolicy == DeletionPurge }

// DeleteConfirmed reports what a person said about removing the cluster's data
// with the object: confirmed is true when AnnotationConfirmDelete has the
// object's name; mistaken is true when it is there with any other value.
func (c *GlusterCluster) DeleteConfirmed() (confirmed, mistaken bool) {
	return deleteConfirmed(&c.ObjectMeta)
}
