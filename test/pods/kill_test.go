package pods

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/test/seed"
)

// R33: a pool grows by a node and a replica set, and volumes come and go, while
// at random moments the operator, its pod, its host, the API server or a
// server's container is killed. Everything ends as without, each thing was done
// once, and the client notices nothing.
func TestGrowthAcrossKills(t *testing.T) {
	ns := mine("kills")
	s := killable(t, ns)
	rng := seed.Rand(t)
	// The operator's host, which is the first one, carries one server only: as
	// many as may be away.
	disks, err := s.disks(t.Context(), ns, 1, 2, 2)
	must(t, err)
	p := try(t, s, ns, disks, s.Env.Node(3))
	must(t, p.sound(t.Context()))

	k := newStriker(p, rng)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	w := &work{trial: p}
	worked := make(chan error, 1)
	go func() { worked <- w.run(ctx) }()
	k.run(t, &w.grown)
	w.enough.Store(true)
	must(t, <-worked)
	t.Logf("%d kills, %d volumes came and went:\n%s", len(k.done), w.rounds, strings.Join(k.done, "\n"))

	must(t, p.AwaitConverged(t.Context(), slow, p.c))
	must(t, p.AwaitConverged(t.Context(), slow, p.v))
	must(t, p.sound(t.Context()))
	p.calm(t, fmt.Sprintf("%d kills", len(k.done)))
	p.once(t, w.rounds)
	apart(t, s, ns)
	p.end(t)
	p.clear(t)
	must(t, s.forget(t.Context(), ns))
}

// work is what goes on while things are killed.
type work struct {
	*trial
	grown  atomic.Bool // node and set are there
	enough atomic.Bool // no further round is begun
	rounds int         // volumes that came and went
}

func (w *work) run(ctx context.Context) error {
	c, v := w.Cluster(w.ns, pool, 0), Volume(w.ns, pool, volume, 1)
	if err := w.insist(ctx, "a fourth node is declared", func(ctx context.Context) error {
		return w.Change(ctx, c, func() { c.Spec.NodeTemplates[0].Thresholds.Nodes = 4 })
	}); err != nil {
		return err
	}
	if err := w.insist(ctx, "a second set is declared", func(ctx context.Context) error {
		return w.Change(ctx, v, func() { v.Spec.Layout.Replicate.Sets = 2 })
	}); err != nil {
		return err
	}
	if err := w.Await(ctx, slow, c, func() string {
		if n := c.Status.Nodes; n == nil || n.Joined != 4 {
			return fmt.Sprintf("nodes are %+v", n)
		}
		return ""
	}); err != nil {
		return err
	}
	if err := w.Await(ctx, slow, v, func() string {
		if up := v.Status.BricksUp; up == nil || *up != 6 {
			return fmt.Sprintf("bricks up: %v", up)
		}
		return ""
	}); err != nil {
		return err
	}
	if err := w.AwaitConverged(ctx, slow, v); err != nil {
		return err
	}
	w.grown.Store(true)
	for !w.enough.Load() {
		if err := w.round(ctx); err != nil {
			return err
		}
	}
	return nil
}

// round makes a volume and deletes it.
func (w *work) round(ctx context.Context) error {
	name := fmt.Sprintf("round-%d", w.rounds)
	if err := w.insist(ctx, name+" is declared", func(ctx context.Context) error {
		return client.IgnoreAlreadyExists(w.Client.Create(ctx, Volume(w.ns, pool, name, 1)))
	}); err != nil {
		return err
	}
	v := Volume(w.ns, pool, name, 1)
	if err := w.AwaitConverged(ctx, slow, v); err != nil {
		return err
	}
	if err := w.insist(ctx, name+" may be deleted", func(ctx context.Context) error {
		return w.Change(ctx, v, func() { v.Annotations = map[string]string{v1alpha1.AnnotationConfirmDelete: name} })
	}); err != nil {
		return err
	}
	w.rounds++
	return w.insist(ctx, name+" is gone", func(ctx context.Context) error {
		if err := w.Client.Get(ctx, client.ObjectKeyFromObject(v), v); err != nil {
			return client.IgnoreNotFound(err)
		}
		if v.DeletionTimestamp == nil {
			return errors.Join(errors.New("it was not deleted"), w.Client.Delete(ctx, v))
		}
		return errors.New("it waits for its finalizer")
	})
}

// insist does something again until it succeeds: the API server comes and goes.
func (w *work) insist(ctx context.Context, what string, do func(context.Context) error) error {
	return w.until(ctx, what, do)
}

// once fails unless all that is there, is there once: each server, brick, set
// and claim, and each operation that was declared was completed and given to
// glusterd once.
func (p *trial) once(t *testing.T, rounds int) {
	t.Helper()
	members, err := p.members(t.Context())
	must(t, err)
	own := map[string]bool{}
	for _, m := range members {
		id, all, _ := strings.Cut(m, " of ")
		own[id] = true
		if n := len(strings.Split(all, ",")); n != 4 {
			t.Errorf("%s sees %d servers, want 4", id, n)
		}
	}
	if len(members) != 4 || len(own) != 4 {
		t.Errorf("the pool has %d servers with %d identities, want 4: %v", len(members), len(own), members)
	}
	volumes, err := p.gluster(NodeName(pool, 0)).VolumeInfo(t.Context(), "all")
	must(t, err)
	if len(volumes) != 1 || volumes[0].Name != volume || len(volumes[0].Bricks) != 6 {
		t.Errorf("the volumes are %+v, want one with 6 bricks", volumes)
	}
	p.counted(t, "StatefulSets", &appsv1.StatefulSetList{}, 4)
	p.counted(t, "pods", &corev1.PodList{}, 4)
	p.counted(t, "claims", &corev1.PersistentVolumeClaimList{}, 8)
	if claims := p.claims(t, p.ns); len(claims) != 8 {
		t.Errorf("claims are %v, want one for the disk and one for the state of each of 4 servers", claims)
	}

	succeeded, tried := map[string]int{}, map[string]int{}
	for _, commands := range p.changes(t) {
		for _, c := range commands {
			f := strings.Fields(c.Text)
			if len(f) < 3 || f[0] != "volume" {
				continue
			}
			tried[f[1]+" "+f[2]]++
			if c.Success {
				succeeded[f[1]+" "+f[2]]++
			}
		}
	}
	want := map[string]int{"create " + volume: 1, "add-brick " + volume: 1}
	for n := range rounds {
		want[fmt.Sprintf("create round-%d", n)] = 1
		want[fmt.Sprintf("delete round-%d", n)] = 1
	}
	for what, n := range want {
		// A server that dies in the last phase of a command lets gluster call it
		// failed although it took effect, which was looked at above.
		if succeeded[what] > n || tried[what] < n {
			t.Errorf("gluster volume %s succeeded %d times and was given %d times, want it to succeed %d times", what, succeeded[what], tried[what], n)
		}
	}
	p.journaled(t, rounds)
}

// counted fails unless Anthill made so many objects of a kind for the pool.
func (p *trial) counted(t *testing.T, what string, l client.ObjectList, want int) {
	t.Helper()
	must(t, p.Client.List(t.Context(), l, client.InNamespace(p.ns), client.HasLabels{v1alpha1.LabelNode}))
	n := 0
	switch l := l.(type) {
	case *appsv1.StatefulSetList:
		n = len(l.Items)
	case *corev1.PodList:
		n = len(l.Items)
	case *corev1.PersistentVolumeClaimList:
		n = len(l.Items)
	}
	if n != want {
		t.Errorf("there are %d %s, want %d", n, what, want)
	}
}

// journaled fails unless the journal is whole, has nothing open and completed
// each operation of the pool once.
func (p *trial) journaled(t *testing.T, rounds int) {
	t.Helper()
	if _, err := p.Operator.CLI(t.Context(), "journal", "verify"); err != nil {
		t.Error(err)
	}
	completed := map[string]int{}
	for _, op := range p.operations(t) {
		switch op.State {
		case "completed":
			completed[op.Kind+" "+op.Target]++
		case "superseded":
		default:
			t.Errorf("operation %s (%s %s) is %s", op.ID, op.Kind, op.Target, op.State)
		}
	}
	want := []string{"create-volume volume/" + volume, "add-brick volume/" + volume}
	for n := 1; n < 4; n++ {
		want = append(want, "join-node node/"+NodeName(pool, n))
	}
	for n := range rounds {
		want = append(want, fmt.Sprintf("create-volume volume/round-%d", n), fmt.Sprintf("delete-volume volume/round-%d", n))
	}
	for _, w := range want {
		if completed[w] != 1 {
			t.Errorf("%s was completed %d times, want once; completed are %v", w, completed[w], slices.Sorted(maps.Keys(completed)))
		}
	}
}

// An operation is a line of `anthill journal ls`.
type operation struct{ ID, Kind, Target, State string }

// operations lists all operations of the pool that the installed operator's
// journal has.
func (p *trial) operations(t *testing.T) []operation {
	t.Helper()
	must(t, p.Client.Get(t.Context(), client.ObjectKeyFromObject(p.c), p.c))
	out, err := p.Operator.CLI(t.Context(), "journal", "ls", "--all", "--limit", "0", "--scope", p.c.Status.PoolID, "-o", "json")
	must(t, err)
	var list struct{ Items []operation }
	must(t, json.Unmarshal([]byte(out), &list))
	return list.Items
}

// pause lets a random part of most pass.
func (k *striker) pause(ctx context.Context, most time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Duration(k.rng.Int64N(int64(most)))):
	}
}
