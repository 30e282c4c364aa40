package planner

import (
	"time"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
)

// A Snapshot is everything a decision about one cluster depends on.
type Snapshot struct {
	Cluster *v1alpha1.GlusterCluster
	Nodes   []v1alpha1.GlusterNode   // that name the cluster, any order
	Volumes []v1alpha1.GlusterVolume // likewise

	// Claims is every external address named by a node of another cluster, with
	// that cluster's name: one server never serves two.
	Claims map[string]string
	// ClaimedAt is when the oldest of these nodes was created, by address. An
	// unclaimed server goes to the cluster that named it first; without a time
	// here, to neither.
	ClaimedAt map[string]time.Time

	Observed   Observed
	Open       []view.Op                 // open operations of this pool
	Ended      []view.Op                 // operations of this pool that ended lately, newest first, at most 100
	Tombstones map[string]view.Tombstone // by intent

	// Epoch of the journal; 0 tells no epoch from another.
	Epoch journal.Epoch
	// Instance is this operator's; Anchor is checked against it.
	Instance string
	// NodeImage is the image of pods whose cluster names none; empty: there is no
	// default.
	NodeImage string
	// Fence is empty when every connected member is fenced, else why not.
	Fence string

	// NewPoolID and NewVolumeIDs are fresh UUIDs, used only where an identity is
	// missing; a volume's is keyed by its name.
	NewPoolID    string
	NewVolumeIDs map[string]string
}
