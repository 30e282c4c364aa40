package node

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"

	"github.com/gluster/anthill/executor/gate"
)

// names resolves those that are in it.
type names struct {
	mu    sync.Mutex
	known map[string]bool
}

func (n *names) LookupHost(_ context.Context, host string) ([]string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.known[host] {
		return []string{"192.0.2.1"}, nil
	}
	return nil, errors.New("no such host")
}

func (n *names) LookupAddr(context.Context, string) ([]string, error) { return nil, nil }

func (n *names) learn(host string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.known[host] = true
}

func newNode(t *testing.T, o Options) *node {
	t.Helper()
	o.Log, o.Gate = logr.Discard(), files(t)
	o = o.withDefaults()
	return &node{o: o, disks: newDisks(o)}
}

func TestObstacles(t *testing.T) {
	n := newNode(t, Options{
		Resolver: &names{known: map[string]bool{"known": true}},
		Storage:  []gate.Storage{{Name: "b1", Device: "/dev/none1"}, {Name: "b2", Device: "/dev/none2"}, {Name: "b3", Device: "/dev/none3"}},
	})
	b := n.o.Gate.BricksDir
	brick(t, n.o.Gate, "v1", "known", "u1", b+"/b1/v1/brick")
	brick(t, n.o.Gate, "v2", "late", "u1", b+"/b2/v2/brick")
	brick(t, n.o.Gate, "v3", "late", "u1", b+"/claim/v3/brick")
	brick(t, n.o.Gate, "v4", "other", "u2", b+"/b3/v4/brick") // of another server
	n.disks.attach(t.Context(), time.Minute)
	n.disks.seen["b2"] = gate.Device{Mounted: true}
	want := []string{b + "/b1 is not mounted", "late does not resolve"}
	var got []string
	for o := range maps.Keys(n.obstacles(t.Context())) {
		got = append(got, o.String())
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestClearIsPatientWithNames(t *testing.T) {
	r := &names{known: map[string]bool{}}
	n := newNode(t, Options{Resolver: r, NamesWait: time.Hour, MountsWait: time.Millisecond, Every: time.Millisecond, Storage: []gate.Storage{{Name: "b1", Device: "/dev/none"}}})
	brick(t, n.o.Gate, "v1", "late", "u1", n.o.Gate.BricksDir+"/b1/brick")
	done := make(chan struct{})
	go func() {
		defer close(done)
		n.clear(t.Context())
	}()
	select {
	case <-done:
		t.Fatal("it does not wait for the name")
	case <-time.After(50 * time.Millisecond):
	}
	r.learn("late")
	select {
	case <-done: // and not for the disk that never comes
	case <-time.After(20 * time.Second):
		t.Fatal("it waits though the name is there")
	}
}

func TestRevive(t *testing.T) {
	cases := map[string]struct {
		reason string
		learn  bool
		alive  bool
		again  bool
	}{
		"Came":    {"what was missing is there: the brick is started", true, false, true},
		"Missing": {"it is missing still", false, false, false},
		"Runs":    {"somebody else started the brick", true, true, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "starts")
			k, _ := kept(t, "echo x >>"+file+"; exec sleep 60", time.Hour)
			r := &names{known: map[string]bool{}}
			n := newNode(t, Options{Resolver: r})
			n.keeper = k
			brick(t, n.o.Gate, "v1", "late", "u1", "/bricks/b1/brick")
			n.block(n.obstacles(t.Context()))
			until(t, "the first start", func() bool { return starts(file) == 1 && k.running() != nil })
			if tc.learn {
				r.learn("late")
			}
			if tc.alive {
				fakeBrick(t, n)
			}
			if err := n.revive(t.Context()); err != nil {
				t.Fatal(err)
			}
			if tc.again {
				until(t, "another start", func() bool { return starts(file) == 2 })
				return
			}
			time.Sleep(50 * time.Millisecond)
			if starts(file) != 1 {
				t.Errorf("%s: glusterd was started again", tc.reason)
			}
		})
	}
}

// fakeBrick makes the brick's process run.
func fakeBrick(t *testing.T, n *node) {
	t.Helper()
	proc := filepath.Join(t.TempDir(), "proc")
	write(t, proc+"/42/stat", "42 (glusterfsd) S 1 2 3 "+strings.Repeat("0 ", 15)+"7 0 0")
	write(t, proc+"/42/cmdline", "glusterfsd\x00--brick-name\x00/bricks/b1/brick\x00")
	write(t, n.o.Gate.RunDir+"/vols/v1/late-b.pid", "42\n")
	n.o.Gate.ProcDir = proc
}

// An operator's command that runs here is not disturbed.
func TestReviveWaitsForTheGate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "starts")
	k, _ := kept(t, "echo x >>"+file+"; exec sleep 60", time.Hour)
	r := &names{known: map[string]bool{}}
	n := newNode(t, Options{Resolver: r})
	n.keeper = k
	write(t, n.o.Gate.StateDir+"/x", "")
	brick(t, n.o.Gate, "v1", "late", "u1", "/bricks/b1/brick")
	n.block(n.obstacles(t.Context()))
	until(t, "the first start", func() bool { return starts(file) == 1 && k.running() != nil })
	r.learn("late")
	release, err := gate.Hold(t.Context(), n.o.Gate, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.revive(t.Context()); err == nil {
		t.Error("glusterd was started again under a command")
	}
	release()
	if err := n.revive(t.Context()); err != nil {
		t.Error(err)
	}
	until(t, "another start", func() bool { return starts(file) == 2 })
}
