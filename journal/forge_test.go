package journal

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"
	bolt "go.etcd.io/bbolt"
)

// forge appends events to a closed journal past all rules, as another release
// with other rules could have: numbered, chained and projected well.
func forge(t *testing.T, path string, events ...Event) {
	t.Helper()
	db, err := bolt.Open(path, 0, &bolt.Options{NoFreelistSync: true})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		m, err := readMeta(tx, true)
		if err != nil {
			return err
		}
		for i := range events {
			ev := &events[i]
			ev.Seq = m.head.Seq + 1
			if ev.SV == 0 {
				ev.SV = 1
			}
			if ev.Type == EpochOpened {
				m.epoch = ev.Epoch
			}
			if m.head, err = putEvent(tx, m.head.Hash, ev); err != nil {
				return err
			}
		}
		if err := m.write(tx.Bucket(bMeta)); err != nil {
			return err
		}
		r, err := foldAll(t.Context(), tx, &m)
		if err != nil {
			return err
		}
		return r.rebuild(tx)
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestForged opens journals whose chain is good and whose history is not.
func TestForged(t *testing.T) {
	// The journal ends with event 5, epoch.closed; operation 1 has events 3 and 4.
	id := testID(1)
	epoch := func(n Epoch) Event { return Event{Type: EpochOpened, Epoch: n, Data: []byte(`{"instance":"forged"}`)} }
	ev := func(typ Type, ver uint64, prev Seq) Event {
		return Event{Type: typ, Epoch: 2, Op: id, OpVer: ver, Prev: prev, Crit: true}
	}
	cases := map[string]struct {
		reason string
		events []Event
		verify string // what Verify must say; empty: nothing
		opens  bool
		refuse error // what appending to operation 1 then gives
	}{
		"Good":          {"as a journal writes it", []Event{epoch(2), ev(OpResumed, 3, 4)}, "", true, nil},
		"FutureEvent":   {"a newer release's event: the operation is left alone", []Event{epoch(2), ev("op.migrated", 3, 4)}, "", true, ErrIllegal},
		"FutureSchema":  {"a newer release's payload: the operation is left alone", []Event{epoch(2), func() Event { e := ev(OpResumed, 3, 4); e.SV = 2; return e }()}, "", true, ErrIllegal},
		"FutureNote":    {"which does not matter", []Event{epoch(2), func() Event { e := ev("note.added", 3, 4); e.Crit = false; return e }()}, "", true, ErrIllegal},
		"FutureJournal": {"of no operation", []Event{epoch(2), {Type: "gc.truncated", Epoch: 2}}, "", true, ErrIllegal},
		"VersionGap":    {"a version is missing", []Event{epoch(2), ev(OpResumed, 7, 4)}, "version 7", true, nil},
		"WrongPrev":     {"the stream leaves out an event", []Event{epoch(2), ev(OpResumed, 3, 3)}, "after event 3", true, nil},
		"PlannedTwice":  {"an id is planned once", []Event{epoch(2), func() Event { e := ev(OpPlanned, 1, 0); e.Data = []byte(`{"kind":"k"}`); return e }()}, "planned already", true, ErrIllegal},
		"Unheard":       {"of an operation nobody planned", []Event{epoch(2), {Type: OpResumed, Epoch: 2, Op: testID(9), OpVer: 1}}, "no operation", true, ErrIllegal},
		"EpochGap":      {"an epoch is missing", []Event{epoch(3)}, "epoch 3", false, nil},
		"EpochBack":     {"an epoch comes twice", []Event{epoch(1)}, "epoch 1", false, nil},
		"OtherEpoch":    {"an event of another tenure", []Event{epoch(2), {Type: FenceRaised, Epoch: 1, Data: []byte(`{"scope":"s","fence":1}`)}}, "epoch 1", false, nil},
		"OtherEpochOp":  {"an event of another tenure", []Event{epoch(2), func() Event { e := ev(OpResumed, 3, 4); e.Epoch = 1; return e }()}, "epoch 1", false, nil},
		"BadPayload":    {"a payload nobody wrote", []Event{epoch(2), {Type: FenceRaised, Epoch: 2, Data: []byte(`{"scope":1}`)}}, "payload", false, nil},
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
			if _, err := j.Append(t.Context(), Guard{}, mustEvent(t, OpPlanned, id, testPlan(1)), mustEvent(t, OpSuspended, id, Suspended{Cause: "x"})); err != nil {
				t.Fatal(err)
			}
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			forge(t, path, tc.events...)
			r, err := Verify(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			var said []string
			for _, f := range r.Findings {
				said = append(said, f.String())
			}
			if all := strings.Join(said, "; "); (tc.verify == "") != (all == "") || !strings.Contains(all, tc.verify) {
				t.Errorf("%s: Verify says %q, want %q", tc.reason, all, tc.verify)
			}
			if (r.Err() == nil) != r.OK() || r.Err() != nil && !IsCorrupt(r.Err()) {
				t.Errorf("%s: Err = %v", tc.reason, r.Err())
			}
			j, err = Open(t.Context(), path, testOptions(t))
			if (err == nil) != tc.opens || err != nil && !IsCorrupt(err) {
				t.Fatalf("%s: Open: %v", tc.reason, err)
			}
			if err != nil {
				return
			}
			if _, err := j.OpenEpoch(t.Context(), Opened{}); err != nil {
				t.Fatal(err)
			}
			if _, err := j.Append(t.Context(), Guard{}, Event{Type: OpStarted, Op: id}); !errors.Is(err, tc.refuse) {
				t.Errorf("%s: appending to the operation: %v, want %v", tc.reason, err, tc.refuse)
			}
			if _, err := j.Append(t.Context(), Guard{}, mustEvent(t, FenceRaised, uuid.Nil, Fence{Scope: "z", Fence: 1})); err != nil {
				t.Errorf("%s: appending elsewhere: %v", tc.reason, err)
			}
			if err := j.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
