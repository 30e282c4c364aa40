package controller

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/planner"
)

type object = runtime.Object

// oldReads is a client whose cache still has an old version of the cluster.
type oldReads struct {
	client.Client
	cluster *v1alpha1.GlusterCluster
}

func (c oldReads) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if into, ok := o.(*v1alpha1.GlusterCluster); ok {
		c.cluster.DeepCopyInto(into)
		return nil
	}
	return c.Client.Get(ctx, key, o, opts...)
}

// fullJournal takes nothing that begins something.
type fullJournal struct{ Journal }

func (fullJournal) Append(context.Context, journal.Guard, ...journal.Event) (journal.Seq, error) {
	return 0, fmt.Errorf("appending: %w", journal.ErrFull)
}

func conditionOf(list []metav1.Condition, kind string) metav1.Condition {
	for _, c := range list {
		if c.Type == kind {
			return c
		}
	}
	return metav1.Condition{}
}

func observeThen(f func()) Observer {
	return ObserverFunc(func(context.Context, *v1alpha1.GlusterCluster, []v1alpha1.GlusterNode) planner.Observed {
		f()
		return planner.Observed{}
	})
}
