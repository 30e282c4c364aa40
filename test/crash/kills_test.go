package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
	"github.com/gluster/anthill/planner"
	"github.com/gluster/anthill/test/local/writer"
	"github.com/gluster/anthill/test/rig"
	"github.com/gluster/anthill/test/seed"
)

// killsLeast is how often the operator dies at least, and spareAfter how often at
// most during one step, and in a row without anything recorded of an operation:
// on a busy machine every life may be shorter than a first look or a step needs,
// and after five deaths in one step its operation is parked.
const (
	killsLeast = 20
	spareAfter = 3

	lifeMin = 500 * time.Millisecond // from when it is ready
	lifeMax = 5 * time.Second
)

// A killer starts an operator and kills it, again and again.
type killer struct {
	op  *rig.Operator
	rng *rand.Rand

	idle int // lives in a row in which no operation went on

	mu    sync.Mutex
	kills []string // what was the last event each time
	err   error
}

// run goes on until ctx ends. A process lives until some events were recorded
// or some time has passed, but no step ends more than a few of them; one in five
// does not get to its first look. After every killsLeast of them lives get longer:
// what is to be done must come to its end on any machine.
func (k *killer) run(ctx context.Context) {
	for ctx.Err() == nil {
		done, _ := k.count()
		patience := 1 + done/killsLeast
		early := k.rng.IntN(5*patience) == 0
		before := time.Duration(k.rng.IntN(600)) * time.Millisecond
		events := 1 + k.rng.IntN(8*patience)
		longest := time.Duration(patience) * (lifeMin + time.Duration(k.rng.Int64N(int64(lifeMax-lifeMin))))
		jitter := time.Duration(k.rng.IntN(150)) * time.Millisecond
		if err := k.op.Start(); err != nil {
			k.fail(err)
			return
		}
		last := "before it was ready"
		if early {
			pause(ctx, before)
		} else if err := k.op.AwaitReady(ctx); err != nil {
			if ctx.Err() == nil {
				k.fail(err)
			}
			return
		} else {
			last = "idle"
			went := k.live(ctx, longest, func(ev journal.Event) bool {
				last = strings.TrimSpace(string(ev.Type) + " " + ev.Step)
				events--
				return events == 0
			})
			if k.idle++; went {
				k.idle = 0
			}
			pause(ctx, jitter)
			if err := k.spare(ctx); err != nil {
				if ctx.Err() == nil {
					k.fail(err)
				}
				return
			}
		}
		k.op.Kill()
		k.mu.Lock()
		k.kills = append(k.kills, last)
		k.mu.Unlock()
	}
}

// live follows the operator's events until fn has seen enough or the time is
// over, and tells whether there was one of an operation.
func (k *killer) live(ctx context.Context, longest time.Duration, fn func(journal.Event) bool) bool {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	went := false
	_ = follow(ctx, k.op, func(ev journal.Event) bool {
		went = went || ofOperation(ev)
		return fn(ev)
	})
	return went
}

func ofOperation(ev journal.Event) bool { return ev.Op != (journal.OpID{}) }

// spare waits until every step that killed lives enough has succeeded, and, after
// enough lives in which nothing went on, until something does.
func (k *killer) spare(ctx context.Context) error {
	for end := time.Now().Add(late); ; {
		v, err := k.op.View(ctx)
		if err != nil {
			return err
		}
		var due []string
		if k.idle >= spareAfter && len(v.Open()) > 0 {
			if k.live(ctx, 2*time.Second, ofOperation) {
				k.idle = 0
			} else {
				due = append(due, "anything to go on")
			}
		}
		for _, o := range v.Open() {
			for _, s := range o.Steps {
				if s.Crashes >= spareAfter && s.State != view.Succeeded {
					due = append(due, o.Plan.Kind+" "+s.ID)
				}
			}
		}
		switch {
		case len(due) == 0:
			return nil
		case time.Now().After(end):
			return fmt.Errorf("waiting %s for %v, in which the operator died %d times and now does not", late, due, spareAfter)
		}
		pause(ctx, 200*time.Millisecond)
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func (k *killer) fail(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.err = err
}

func (k *killer) count() (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.kills), k.err
}

// kills makes a pool, joins nodes, makes a volume, lets it grow and changes
// options while the operator is killed at random moments and a client writes.
// Everything ends as without, and was done once.
func (p *pool) kills(t *testing.T) {
	rng := seed.Rand(t)
	p.begin(t)
	explain(t, p.op)
	k := &killer{op: p.op, rng: rng}
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { k.run(ctx) })
	defer func() { stop(); wg.Wait() }()

	p.await(t, late, volumeObject())
	mount, err := p.rig.Env.Mount(t.Context(), volumeName)
	must(t, err)
	defer func() { must(t, mount.Unmount(context.WithoutCancel(t.Context()))) }()
	must(t, mount.StartWriter(t.Context(), writer.Config{}))
	must(t, p.rig.Client.Create(t.Context(), p.node(t, 4)))
	p.edit(t, func(v *v1alpha1.GlusterVolume) {
		v.Spec.Layout.Replicate.Sets = 2
		v.Spec.Options = map[string]v1alpha1.OptionValue{"performance.cache-size": "48MB", "performance.io-thread-count": "8"}
	})
	v := volumeObject()
	must(t, p.rig.Await(t.Context(), 2*late, v, func() string {
		if v.Status.BricksTotal == nil || *v.Status.BricksTotal != 6 {
			return "not all of six bricks are there"
		}
		return ""
	}))
	p.await(t, late, v, rig.Cluster(namespace, cluster))
	for n := 0; ; n++ {
		if done, err := k.count(); err != nil {
			t.Fatal(err)
		} else if done >= killsLeast {
			break
		}
		value := fmt.Sprint(4 + n%2)
		p.option(t, "performance.io-thread-count", value)
		p.applied(t, late, "performance.io-thread-count", value)
	}
	stop()
	wg.Wait()
	p.op.Kill()
	p.option(t, "performance.io-thread-count", "8")
	p.start(t)
	p.applied(t, late, "performance.io-thread-count", "8")
	p.settled(t)
	report, err := mount.StopWriter(t.Context())
	must(t, err)
	if s := report.Problem(); s != "" {
		t.Errorf("the client saw: %s", s)
	}
	slices.Sort(k.kills)
	t.Logf("%d kills, after: %s", len(k.kills), strings.Join(k.kills, ", "))
	t.Logf("the client wrote %d files and read %d, longest call %d ms", report.Written, report.Read, report.SlowestMillis)
	p.asWithoutKills(t)
}

// asWithoutKills compares with what there is when nothing is killed.
func (p *pool) asWithoutKills(t *testing.T) {
	t.Helper()
	p.ended(t)
	changes := p.changes(t)
	once := []string{"volume create " + volumeName, "volume start " + volumeName, "volume add-brick " + volumeName,
		"volume rebalance " + volumeName, "volume set " + volumeName + " " + planner.Marker}
	for _, s := range p.servers()[1:] {
		once = append(once, "peer probe "+s.Name())
	}
	for _, words := range once {
		want := 1
		if strings.HasPrefix(words, "volume rebalance") {
			want += p.unclean(t)
		}
		if n := count(changes, words); n != want {
			t.Errorf("%q was carried out %d times, want %d: %v", words, n, want, changes)
		}
	}
	// Only needed where a server does not tell its name by itself.
	if back := "peer probe " + p.rig.Env.Server(1).Name(); count(changes, back) > 1 {
		t.Errorf("%q was carried out more than once: %v", back, changes)
	}
	w, err := observed(t.Context(), p.servers())
	must(t, err)
	p.check(t, w)
}

// unclean counts the runs of a rebalance after which another one was called for.
func (p *pool) unclean(t *testing.T) int {
	t.Helper()
	events, err := p.op.Events(t.Context(), 1)
	must(t, err)
	n := 0
	for _, ev := range events {
		var f journal.Failure
		if ev.Type == journal.StepFailed && json.Unmarshal(ev.Data, &f) == nil && strings.Contains(f.Error, "was not clean") {
			n++
		}
	}
	return n
}

// check compares the servers with what is declared.
func (p *pool) check(t *testing.T, w world) {
	t.Helper()
	names := map[string]bool{}
	for _, s := range p.servers() {
		names[s.Name()] = true
	}
	wantOptions := map[string]string{"performance.cache-size": "48MB", "performance.io-thread-count": "8", planner.Marker: "<" + volumeName + ">"}
	dirs := 0
	for name := range names {
		if w.Owners[name] != "rig/anthill" {
			t.Errorf("the gate of %s obeys %q", name, w.Owners[name])
		}
		for _, peer := range w.Peers[name] {
			if !strings.HasSuffix(peer, " Peer in Cluster connected=true") {
				t.Errorf("%s sees %s", name, peer)
			}
		}
		if n := len(w.Peers[name]); n != len(names)-1 {
			t.Errorf("%s has %d peers: %q", name, n, w.Peers[name])
		}
		dirs += len(w.Dirs[name])
		if len(w.Volumes[name]) != 1 {
			t.Errorf("%s has volumes %+v, want one", name, w.Volumes[name])
			continue
		}
		v := w.Volumes[name][0]
		if v.Name != volumeName || v.Type != "Distributed-Replicate" || v.Status != "Started" || len(v.Bricks) != 6 {
			t.Errorf("%s sees %+v, want two sets of three, started", name, v)
		}
		for set := range slices.Chunk(v.Bricks, 3) {
			on := map[string]bool{}
			for _, b := range set {
				host, _, _ := strings.Cut(b, ":")
				on[host] = true
			}
			if len(on) != 3 {
				t.Errorf("set %v has two copies on one server", set)
			}
		}
		for key, want := range wantOptions {
			if got := v.Options[key]; got != want {
				t.Errorf("%s sees option %s as %q, want %q", name, key, got, want)
			}
		}
	}
	// <root>/<volume>, <leaf> and brick for each brick; those of one volume on
	// one root share the first.
	if most := 6 * 3; dirs > most || dirs < 6*2+1 {
		t.Errorf("%d directories below brick roots, want those of six bricks: %v", dirs, w.Dirs)
	}
	bricks := 0
	for _, list := range w.Dirs {
		for _, d := range list {
			if strings.HasSuffix(d, "/brick") {
				bricks++
			}
		}
	}
	if bricks != 6 {
		t.Errorf("%d brick directories, want six: %v", bricks, w.Dirs)
	}
}
