package journal

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/uuid"
)

// TestWritersAndReaders: 64 writers run operations of their own while others
// read, list, follow and take snapshots.
func TestWritersAndReaders(t *testing.T) {
	const writers, opsEach = 64, 3
	j := openTest(t, testPath(t), Options{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var readers, followers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for ctx.Err() == nil {
				head := j.Head()
				list, err := j.Read(head.Seq-min(head.Seq-1, 50), 100)
				if err != nil || Seq(len(list)) < min(head.Seq, 51) {
					t.Errorf("reading up to %d: %d events, %v", head.Seq, len(list), err)
				}
				if _, err := j.Ops(uuid.Nil, 20, Filter{Open: true}); err != nil {
					t.Errorf("listing: %v", err)
				}
				im, err := j.Image()
				if err != nil {
					t.Errorf("image: %v", err)
				}
				for _, evs := range im.Open {
					if len(evs) == 0 || evs[0].Type != OpPlanned || evs[len(evs)-1].Seq > im.Head.Seq || evs[len(evs)-1].Type.Terminal() {
						t.Errorf("image at %d: stream %+v", im.Head.Seq, evs)
					}
				}
			}
		})
	}
	readers.Go(func() {
		for ctx.Err() == nil {
			if r, err := j.Verify(ctx); ctx.Err() == nil && (err != nil || !r.OK()) {
				t.Errorf("verifying a snapshot: %+v, %v", r, err)
			}
		}
	})
	total := Seq(2 + writers*opsEach*11)
	for range 2 {
		followers.Go(func() {
			next := Seq(1)
			err := j.Reader().Follow(t.Context(), 1, func(ev Event) error {
				if ev.Seq != next {
					return fmt.Errorf("event %d where %d is due", ev.Seq, next)
				}
				if next++; next > total {
					return errDone
				}
				return nil
			})
			if !errors.Is(err, errDone) {
				t.Errorf("following: %v", err)
			}
		})
	}
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for n := range opsEach {
				runOp(t, j, 1+w*opsEach+n)
			}
		})
	}
	wg.Wait()
	followers.Wait()
	cancel()
	readers.Wait()
	if got := j.Head().Seq; got != total {
		t.Errorf("head %d, want %d", got, total)
	}
	s, err := j.Stats()
	if err != nil || s.OpsBy[opCompleted] != writers*opsEach || s.Commits >= s.Appends {
		t.Errorf("stats: %+v, %v; want %d completed and shared commits", s, err, writers*opsEach)
	}
}

var errDone = errors.New("done")

// TestOneWins races guarded appends: of each round exactly one is accepted, and
// those that are refused do not disturb the others.
func TestOneWins(t *testing.T) {
	const rounds, racers = 20, 16
	j := openTest(t, testPath(t), Options{})
	id := testID(1)
	if _, err := j.Append(t.Context(), Guard{}, mustEvent(t, OpPlanned, id, testPlan(1)), Event{Type: OpStarted, Op: id}, step(t, StepStarted, id, "guard", 1, nil)); err != nil {
		t.Fatal(err)
	}
	for round := range rounds {
		ver := uint64(3 + round)
		var wg sync.WaitGroup
		var mu sync.Mutex
		wins := 0
		for range racers {
			wg.Go(func() {
				_, err := j.Append(t.Context(), Guard{OpVer: map[OpID]uint64{id: ver}}, step(t, StepProgress, id, "guard", 1, Progress{Message: "m"}))
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					wins++
				case !errors.Is(err, ErrConflict):
					t.Errorf("round %d: %v", round, err)
				}
			})
		}
		wg.Wait()
		if wins != 1 {
			t.Fatalf("round %d: %d appends won", round, wins)
		}
	}
}

// TestGivingUp: a caller whose context ends wrote nothing, or everything.
func TestGivingUp(t *testing.T) {
	j := openTest(t, testPath(t), Options{})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	before := j.Head()
	if _, err := j.Append(ended, Guard{}, mustEvent(t, OpPlanned, testID(1), testPlan(1))); !errors.Is(err, context.Canceled) || j.Head() != before {
		t.Errorf("append with an ended context: %v, head %v", err, j.Head())
	}
	var wg sync.WaitGroup
	for n := range 100 {
		ctx, cancel := context.WithCancel(t.Context())
		wg.Go(func() {
			seq, err := j.Append(ctx, Guard{}, mustEvent(t, OpPlanned, testID(10+n), testPlan(10+n)))
			evs, rerr := j.ReadOp(testID(10 + n))
			if err == nil && (rerr != nil || len(evs) != 1 || evs[0].Seq != seq) {
				t.Errorf("acknowledged at %d, read %+v, %v", seq, evs, rerr)
			}
			if err != nil && (!errors.Is(err, context.Canceled) || !errors.Is(rerr, ErrNotFound)) {
				t.Errorf("given up (%v), yet it is there: %+v, %v", err, evs, rerr)
			}
		})
		wg.Go(cancel)
	}
	wg.Wait()
}

// TestCloseWhileAppending: every append is acknowledged or refused, none hangs.
func TestCloseWhileAppending(t *testing.T) {
	path := testPath(t)
	j, err := Open(t.Context(), path, testOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.OpenEpoch(t.Context(), Opened{}); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	acked := map[Seq]OpID{}
	for w := range 32 {
		wg.Go(func() {
			for n := 0; ; n++ {
				id := testID(1 + w*1000 + n)
				seq, err := j.Append(t.Context(), Guard{}, mustEvent(t, OpPlanned, id, Plan{Kind: "k"}))
				if errors.Is(err, ErrClosed) {
					return
				}
				if err != nil {
					t.Errorf("append: %v", err)
					return
				}
				mu.Lock()
				acked[seq] = id
				mu.Unlock()
			}
		})
	}
	for wake, stop := j.Watch(); j.Head().Seq < 200; {
		<-wake
		if j.Head().Seq >= 200 {
			stop()
		}
	}
	if err := j.Close(); err != nil {
		t.Errorf("closing: %v", err)
	}
	wg.Wait()
	rd, err := OpenReader(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rd.Close() }()
	n := 0
	err = rd.Follow(t.Context(), 1, func(ev Event) error {
		if ev.Type == OpPlanned {
			if acked[ev.Seq] != ev.Op {
				t.Errorf("event %d of %s was not acknowledged", ev.Seq, ev.Op)
			}
			n++
		}
		return nil
	})
	if err != nil || n != len(acked) {
		t.Errorf("%d acknowledged, %d stored, %v", len(acked), n, err)
	}
	mustVerify(t, path)
}
