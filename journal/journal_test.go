package journal

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	bolt "go.etcd.io/bbolt"
)

func TestLifecycle(t *testing.T) {
	path := testPath(t)
	j, err := Open(t.Context(), path, testOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	if got := j.Head().Seq; got != 1 {
		t.Errorf("head of a fresh journal: %d, want 1", got)
	}
	if _, err := j.Append(t.Context(), Guard{}, mustEvent(t, OpPlanned, testID(1), testPlan(1))); !errors.Is(err, ErrNoEpoch) {
		t.Errorf("append without epoch: %v, want ErrNoEpoch", err)
	}
	epoch, err := j.OpenEpoch(t.Context(), Opened{Instance: "ns/a", Host: "h"})
	if err != nil || epoch != 1 {
		t.Fatalf("OpenEpoch = %d, %v; want 1", epoch, err)
	}
	if _, err := j.OpenEpoch(t.Context(), Opened{}); !errors.Is(err, ErrIllegal) {
		t.Errorf("second OpenEpoch: %v, want ErrIllegal", err)
	}
	for n := range 5 {
		runOp(t, j, n+1)
	}
	seq, err := j.Append(t.Context(), Guard{Epoch: 1}, mustEvent(t, OpPlanned, testID(6), testPlan(6)), Event{Type: OpStarted, Op: testID(6)})
	if err != nil || seq != j.Head().Seq {
		t.Fatalf("Append = %d, %v; head %d", seq, err, j.Head().Seq)
	}
	head, id := j.Head(), j.ID()
	if err := errors.Join(j.Close(), j.Close()); err != nil {
		t.Errorf("closing twice: %v", err)
	}
	if _, err := j.Append(t.Context(), Guard{}, Event{Type: OpCompleted, Op: testID(6)}); !errors.Is(err, ErrClosed) {
		t.Errorf("append after Close: %v, want ErrClosed", err)
	}
	if _, err := j.Read(1, 0); !errors.Is(err, ErrClosed) {
		t.Errorf("read after Close: %v, want ErrClosed", err)
	}

	j = openTest(t, path, testOptions(t))
	if j.ID() != id || j.Epoch() != 2 || j.Head().Seq != head.Seq+2 {
		t.Errorf("reopened: id %s epoch %d head %d; want %s, 2, %d (epoch.closed, epoch.opened)", j.ID(), j.Epoch(), j.Head().Seq, id, head.Seq+2)
	}
	if diff := cmp.Diff([]OpID{testID(6)}, j.OpenOps()); diff != "" {
		t.Errorf("open operations (-want +got):\n%s", diff)
	}
	epochs := j.Epochs()
	if len(epochs) != 2 || epochs[0].Closed != head.Seq+1 || epochs[1].Closed != 0 || !epochs[1].By.Clean {
		t.Errorf("epochs: %+v", epochs)
	}
	if len(j.Repaired()) != 0 {
		t.Errorf("repaired: %v", j.Repaired())
	}
}

// TestUncleanEpoch opens a copy of a live journal, as after a crash.
func TestUncleanEpoch(t *testing.T) {
	j := openTest(t, testPath(t), testOptions(t))
	crashed := testPath(t)
	f, err := os.Create(crashed)
	if err != nil {
		t.Fatal(err)
	}
	m, err := j.Snapshot(t.Context(), f)
	if err != nil || m.Head != j.Head() {
		t.Fatalf("Snapshot = %+v, %v; want head %v", m, err, j.Head())
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	k := openTest(t, crashed, testOptions(t))
	epochs := k.Epochs()
	if len(epochs) != 2 || epochs[0].Closed != 0 || epochs[1].By.Clean {
		t.Errorf("epochs after a crash: %+v; want the first unclosed and the second not clean", epochs)
	}
}

func TestGuards(t *testing.T) {
	j := openTest(t, testPath(t), testOptions(t))
	runOp(t, j, 1) // ended at version 12
	if _, err := j.Append(t.Context(), Guard{}, mustEvent(t, OpPlanned, testID(2), testPlan(2))); err != nil {
		t.Fatal(err)
	}
	noop := func() Event { return Event{Type: FenceRaised, SV: 1, Data: []byte(`{"scope":"s","fence":1}`)} }
	cases := map[string]struct {
		reason string
		guard  Guard
		want   error
	}{
		"Epoch":         {"the open epoch is 1", Guard{Epoch: 1}, nil},
		"OtherEpoch":    {"an event of another tenure", Guard{Epoch: 2}, ErrConflict},
		"OpenVersion":   {"the version of an open operation", Guard{OpVer: map[OpID]uint64{testID(2): 1}}, nil},
		"OpenMoved":     {"somebody was faster", Guard{OpVer: map[OpID]uint64{testID(2): 2}}, ErrConflict},
		"EndedVersion":  {"ended operations have versions too", Guard{OpVer: map[OpID]uint64{testID(1): 11}}, nil},
		"EndedMoved":    {"ended since", Guard{OpVer: map[OpID]uint64{testID(1): 3}}, ErrConflict},
		"Absent":        {"0 says it must not exist", Guard{OpVer: map[OpID]uint64{testID(9): 0}}, nil},
		"NotAbsent":     {"it exists", Guard{OpVer: map[OpID]uint64{testID(2): 0}}, ErrConflict},
		"IntentAbsent":  {"the operation with it has ended", Guard{IntentAbsent: []string{"intent-1"}}, nil},
		"IntentPresent": {"an open operation has it", Guard{IntentAbsent: []string{"intent-2"}}, ErrConflict},
	}
	fence := uint64(1)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			fence++
			ev := noop()
			ev.Data = mustEvent(t, FenceRaised, OpID{}, Fence{Scope: "s", Fence: fence}).Data
			before := j.Head()
			_, err := j.Append(t.Context(), tc.guard, ev)
			if !errors.Is(err, tc.want) {
				t.Errorf("%s: got %v, want %v", tc.reason, err, tc.want)
			}
			if err != nil && j.Head() != before {
				t.Errorf("%s: refused, yet the head moved", tc.reason)
			}
		})
	}
}

func TestSnapshotIsAJournal(t *testing.T) {
	j := openTest(t, testPath(t), testOptions(t))
	for n := range 30 {
		runOp(t, j, n+1)
	}
	path := testPath(t)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := j.Snapshot(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(b)) != m.Size || Hash(sum256(b)) != m.SHA256 {
		t.Errorf("manifest says %d bytes, %s; the copy has %d, %x", m.Size, m.SHA256, len(b), sum256(b))
	}
	if r := mustVerify(t, path); r.Head != m.Head || r.Ops != 30 {
		t.Errorf("copy verifies to %+v, manifest %+v", r, m)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := j.Snapshot(ctx, f); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled snapshot: %v", err)
	}
}

// rewriteMeta changes the meta bucket behind the journal's back.
func rewriteMeta(t *testing.T, path string, change func(*metaState)) {
	t.Helper()
	db, err := bolt.Open(path, 0, &bolt.Options{NoFreelistSync: true})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		m, err := readMeta(tx, false)
		if err != nil {
			return err
		}
		change(&m)
		return m.write(tx.Bucket(bMeta))
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestOtherFormats(t *testing.T) {
	cases := map[string]struct {
		reason      string
		change      func(*metaState)
		write, read error
	}{
		"NewerReader": {"nothing of it can be understood", func(m *metaState) { m.format, m.minReader, m.minWriter = 9, 9, 9 }, ErrTooNew, ErrTooNew},
		"NewerWriter": {"it can be read, not written", func(m *metaState) { m.format, m.minWriter = 2, 2 }, ErrTooNew, nil},
		"NewerFormat": {"only additions that older releases ignore", func(m *metaState) { m.format = 2 }, nil, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			path := testPath(t)
			j, err := Open(t.Context(), path, testOptions(t))
			if err != nil {
				t.Fatal(err)
			}
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			rewriteMeta(t, path, tc.change)
			j, err = Open(t.Context(), path, testOptions(t))
			if !errors.Is(err, tc.write) || tc.write != nil && (!IsTooNew(err) || IsCorrupt(err)) {
				t.Errorf("%s: Open: %v, want %v", tc.reason, err, tc.write)
			}
			if err == nil {
				if err := j.Close(); err != nil {
					t.Error(err)
				}
			}
			r, err := OpenReader(t.Context(), path)
			if !errors.Is(err, tc.read) {
				t.Errorf("%s: OpenReader: %v, want %v", tc.reason, err, tc.read)
			}
			if err == nil {
				if err := r.Close(); err != nil {
					t.Error(err)
				}
			}
			if _, err := Verify(t.Context(), path); !errors.Is(err, tc.read) {
				t.Errorf("%s: Verify: %v, want %v", tc.reason, err, tc.read)
			}
		})
	}
}

// TestRebuild breaks projections in ways that leave the events alone.
func TestRebuild(t *testing.T) {
	open, ended, key := testID(2), testID(1), testID(77)
	cases := map[string]struct {
		reason string
		damage func(tx *bolt.Tx) error
		finds  bool // Open finds it; otherwise only Verify does
	}{
		"OpenMissing":   {"an open operation would be forgotten", func(tx *bolt.Tx) error { return tx.Bucket(bOpen).Delete(open[:]) }, true},
		"OpenExtra":     {"an ended one would come alive", func(tx *bolt.Tx) error { return tx.Bucket(bOpen).Put(ended[:], nil) }, true},
		"OpenGarbage":   {"a key that is no id", func(tx *bolt.Tx) error { return tx.Bucket(bOpen).Put([]byte("x"), nil) }, true},
		"OpRow":         {"the summary of an open operation", func(tx *bolt.Tx) error { return tx.Bucket(bOp).Put(open[:], []byte(`{"last":3}`)) }, true},
		"OpRowMissing":  {"the summary of an open operation", func(tx *bolt.Tx) error { return tx.Bucket(bOp).Delete(open[:]) }, true},
		"OpRowGarbage":  {"not even JSON", func(tx *bolt.Tx) error { return tx.Bucket(bOp).Put(open[:], []byte("{")) }, true},
		"IntentMissing": {"the intent of an open operation", func(tx *bolt.Tx) error { return tx.Bucket(bIntent).Delete([]byte("intent-2")) }, true},
		"IntentExtra":   {"the intent of an ended one", func(tx *bolt.Tx) error { return tx.Bucket(bIntent).Put([]byte("i"), []byte(`{}`)) }, true},
		"EndedRow":      {"Open does not look at ended operations", func(tx *bolt.Tx) error { return tx.Bucket(bOp).Put(ended[:], []byte("{}")) }, false},
		"ExtraRow":      {"an operation no event knows", func(tx *bolt.Tx) error { return tx.Bucket(bOp).Put(key[:], []byte("{}")) }, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			path := testPath(t)
			j, err := Open(t.Context(), path, testOptions(t))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := j.OpenEpoch(t.Context(), Opened{}); err != nil {
				t.Fatal(err)
			}
			runOp(t, j, 1)
			if _, err := j.Append(t.Context(), Guard{}, mustEvent(t, OpPlanned, open, testPlan(2)), Event{Type: OpStarted, Op: open}); err != nil {
				t.Fatal(err)
			}
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			db, err := bolt.Open(path, 0, &bolt.Options{NoFreelistSync: true})
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(db.Update(tc.damage), db.Close()); err != nil {
				t.Fatal(err)
			}
			r, err := Verify(t.Context(), path)
			if err != nil || r.OK() {
				t.Errorf("%s: Verify found nothing (%v)", tc.reason, err)
			}
			if j, err = Open(t.Context(), path, testOptions(t)); err != nil {
				t.Fatalf("%s: Open: %v", tc.reason, err)
			}
			if diff := cmp.Diff([]OpID{open}, j.OpenOps()); diff != "" {
				t.Errorf("%s: open operations (-want +got):\n%s", tc.reason, diff)
			}
			if found := len(j.Repaired()) > 0; found != tc.finds {
				t.Errorf("%s: Open repaired %v", tc.reason, j.Repaired())
			}
			if err := j.Close(); err != nil {
				t.Error(err)
			}
			if tc.finds {
				mustVerify(t, path)
			}
		})
	}
}
