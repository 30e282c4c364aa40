package planner

// Leaving is what Kubernetes has that a cluster or a volume which is being
// deleted depends on. It is asked for only then (S9).
type Leaving struct {
	// Users are the PersistentVolumes that use a volume, by the name of the
	// GlusterVolume, sorted. Where the operator may not look at PersistentVolumes
	// there are none.
	Users map[string][]string
	// Unknown says why users, or what was made, could not be looked at; empty:
	// they were. Nothing begins to go meanwhile.
	Unknown string
	// Made is what Anthill made for the cluster and is still there; nil: nobody
	// asked, because the data is to be kept.
	Made *Made
}

// Made is what Anthill made in Kubernetes for a cluster, or what carries its
// labels, whether or not a GlusterNode names it any more.
type Made struct {
	// Service is the UID of the cluster's Service; empty: there is none of ours.
	Service      string
	ServiceGoing string      // it is being deleted, and this holds it
	Claims       []MadeClaim // by name
	// Pods are names of nodes that have a StatefulSet or a pod, sorted.
	Pods []string
}

// MadeClaim is a claim with the labels of a cluster and of a node.
type MadeClaim struct {
	Name, Node, UID string
	// Foreign says why it stays although it has the labels; empty: Anthill made
	// it for a template.
	Foreign string
	// Users are the pods that use it, sorted.
	Users []string
	// Going says what holds it, if it is being deleted.
	Going string
}
