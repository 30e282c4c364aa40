package gate

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestDrop(t *testing.T) {
	d := newDisk(t)
	drop := func(attempt, leaf string) Request {
		return Request{Verb: Drop, Attempt: attempt, Brick: d.brick(leaf)}
	}
	d.must(d.make("m1", "0-0-0"))
	d.must(d.make("m2", "0-1-0"))
	for range 2 { // resent
		if b := d.must(drop("d1", "0-0-0")).Brick; b.Exists {
			t.Errorf("dropped: %+v", b)
		}
		if got, want := d.tree(), []string{vol, vol + "/0-1-0", vol + "/0-1-0/brick"}; !slices.Equal(got, want) {
			t.Errorf("left %v, want %v", got, want)
		}
	}
	d.must(drop("d2", "0-1-0"))
	if got := d.tree(); got != nil {
		t.Errorf("left %v", got)
	}
	d.must(drop("d3", "0-1-0")) // nothing was ever there
}

func TestDropRefusesWhatIsABrick(t *testing.T) {
	id := [16]byte{1}
	cases := map[string]struct {
		reason string
		seed   func(d *disk, brick string)
	}{
		"VolumeID": {"it became a brick", func(d *disk, brick string) {
			if err := unix.Setxattr(brick, xattrVolumeID, id[:], 0); err != nil {
				d.t.Fatal(err)
			}
		}},
		"Data": {"it has files", func(d *disk, brick string) { d.write(filepath.Join(brick, "a"), "") }},
		"KnownGone": {"glusterd has it in a volume, though the directory is lost", func(d *disk, brick string) {
			d.write(filepath.Join(d.o.GlusterdDir, "vols/v1/bricks/n1:-x"), "path="+brick+"\n")
			if err := os.Remove(brick); err != nil {
				d.t.Fatal(err)
			}
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newDisk(t)
			tc.seed(d, d.must(d.make("m1", "0-0-0")).Brick.Path)
			before := d.tree()
			d.refused(Request{Verb: Drop, Attempt: "d1", Brick: d.brick("0-0-0")}, ExitFailed, ReasonBrick)
			if got := d.tree(); !slices.Equal(got, before) {
				t.Errorf("%s: left %v of %v", tc.reason, got, before)
			}
		})
	}
}

func TestRelease(t *testing.T) {
	w := newWorld(t).claim()
	w.write(filepath.Join(w.o.BinaryDir, "gate"), "x")
	volume := filepath.Join(w.o.GlusterdDir, "vols/v1/info")
	w.write(volume, "")
	w.refused(Request{Verb: Release}, ExitFailed, ReasonNotFresh)
	w.refused(Request{Verb: Release, Pool: poolB, Fence: 9}, ExitFenced, ReasonForeignPool)
	if err := os.RemoveAll(filepath.Dir(volume)); err != nil {
		t.Fatal(err)
	}
	w.must(Request{Verb: Release})
	for _, dir := range []string{w.o.BinaryDir, w.o.StateDir} {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", dir, err)
		}
	}
	w.must(Request{Verb: Claim, Pool: poolB, Fresh: true})
}

// In a pod both folders are where a volume is mounted: they are emptied.
func TestReleaseOfAPod(t *testing.T) {
	needRoot(t)
	w := newWorld(t)
	for _, dir := range []string{w.o.BinaryDir, w.o.StateDir} {
		mountTmpfs(t, dir, "")
	}
	w.claim().write(filepath.Join(w.o.BinaryDir, "gate"), "x")
	w.must(Request{Verb: Release})
	for _, dir := range []string{w.o.BinaryDir, w.o.StateDir} {
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("in %s: %v, %v", dir, left, err)
		}
	}
	w.must(Request{Verb: Claim, Pool: poolB, Fresh: true})
}

// A request that began before its gate was removed, and comes to its turn after
// that, finds no gate: the state is not made anew.
func TestNothingComesBackAfterRelease(t *testing.T) {
	w := newWorld(t).claim()
	exe := filepath.Join(w.o.BinaryDir, filepath.Base(BinaryPath))
	w.write(exe, "the gate")
	w.o.Exe = exe
	w.must(Request{Verb: Release})
	for _, req := range []Request{
		{Verb: Claim, Pool: poolB, Fresh: true}, {Verb: Register, Attempt: "r1", Dirs: []string{"/b"}}, runReq("a9", "ok"),
	} {
		w.refused(req, ExitMissing, ReasonNotInstalled)
	}
	// Looks take no lock, so that they may be anywhere when it is removed.
	g := &gate{w.o.withDefaults()}
	if _, err := g.getState(t.Context()); err == nil {
		t.Error("glusterd's state is asked for without a gate")
	}
	g.keep(filepath.Join(w.o.StateDir, "x.fact"), fact{})
	g.makePythonDir()
	if _, err := os.Stat(w.o.StateDir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the state is there again: %v", err)
	}
	// A gate that was replaced, not removed, sees its request through.
	w.write(exe, "another gate")
	w.o.Exe = filepath.Join(t.TempDir(), "gone")
	w.must(Request{Verb: Claim, Pool: poolB, Fresh: true})
}

// Looks go on while a gate is removed, again and again: nothing of their making is
// left.
func TestReleaseUnderLooks(t *testing.T) {
	for range 50 {
		w := newWorld(t).claim()
		exe := filepath.Join(w.o.BinaryDir, filepath.Base(BinaryPath))
		w.write(exe, "the gate")
		w.o.Exe = exe
		w.write(filepath.Join(w.o.StateDir+".removed", "left"), "of a release that was cut off")
		g := &gate{w.o.withDefaults()}
		var looks sync.WaitGroup
		stop := make(chan struct{})
		for range 4 {
			looks.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					_ = g.makeBelow()
					g.keep(filepath.Join(w.o.StateDir, "x.fact"), fact{})
				}
			})
		}
		w.must(Request{Verb: Release})
		close(stop)
		looks.Wait()
		left, err := filepath.Glob(w.o.StateDir + "*")
		if err != nil || len(left) > 0 {
			t.Fatalf("left: %q, %v", left, err)
		}
	}
}

// Whoever waited for the lock of a server that was let go finds it unclaimed,
// and never holds a lock that nobody else can see.
func TestReleaseUnderAWaitingClaim(t *testing.T) {
	w := newWorld(t).claim()
	g := &gate{w.o.withDefaults()}
	l, err := g.take(t.Context(), holder{Verb: Run}, 0)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan Reply)
	go func() {
		done <- Handle(context.Background(), w.fill(Request{Verb: Claim, Pool: poolB, LockWait: 20 * time.Second}), w.o)
	}()
	time.Sleep(50 * time.Millisecond) // it waits now, most likely
	if err := os.RemoveAll(w.o.StateDir); err != nil {
		t.Fatal(err)
	}
	l.release()
	if rep := <-done; rep.Exit != ExitOK || rep.Owner.Pool != poolB {
		t.Fatalf("the claim that waited: %+v", rep)
	}
	if got := w.must(Request{Verb: Hello}).Owner; got == nil || got.Pool != poolB {
		t.Errorf("recorded owner %+v", got)
	}
}
