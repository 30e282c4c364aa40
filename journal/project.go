package journal

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"
	bolt "go.etcd.io/bbolt"
)

// A refold is the whole journal folded from its events: what the projections
// and indexes must be equal to.
type refold struct {
	*ledger
	findings []Finding // events that contradict what came before them
}

// foldAll folds every event of tx. The chain must have been verified.
func foldAll(ctx context.Context, tx *bolt.Tx, m *metaState) (*refold, error) {
	r := &refold{ledger: newLedger()}
	r.keepEnded = true
	r.ended = func(OpID) (*opRow, error) { return nil, nil }
	cur := tx.Bucket(bEv).Cursor()
	seq := m.tail.Seq - 1
	for k, v := cur.First(); k != nil; k, v = cur.Next() {
		if seq++; seq%scanChunk == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		codec, _, stored, ok := splitEv(v)
		if !ok {
			return nil, &CorruptError{Seq: seq, What: "the event is cut short"}
		}
		ev, err := decodeEvent(seq, codec, stored)
		if err != nil {
			return nil, err
		}
		f, err := parseFact(&ev)
		if err == nil {
			err = r.accept(f)
		}
		if err != nil {
			r.found(Finding{Seq: seq, What: err.Error()})
		}
	}
	return r, nil
}

func (r *refold) found(f Finding) {
	if len(r.findings) < FindingsMax {
		r.findings = append(r.findings, f)
	}
}

// A row is one key and value a bucket must hold.
type row struct{ key, val []byte }

// rows are the contents of one projection, sorted by key.
func (r *refold) rows(bucket []byte) ([]row, error) {
	var rows []row
	add := func(key []byte, v any) error {
		val, err := encodeRow(v)
		if err != nil {
			return err
		}
		rows = append(rows, row{key, val})
		return nil
	}
	switch {
	case bytes.Equal(bucket, bOp):
		for id, o := range r.ops {
			if err := add(id[:], o.row()); err != nil {
				return nil, err
			}
		}
	case bytes.Equal(bucket, bOpen):
		for id, o := range r.ops {
			if !o.Terminal() {
				rows = append(rows, row{key: id[:], val: seqKey(o.First)})
			}
		}
	case bytes.Equal(bucket, bIntent):
		for key, in := range r.intents {
			if in.Op == uuid.Nil {
				continue
			}
			if err := add([]byte(key), in); err != nil {
				return nil, err
			}
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return bytes.Compare(a.key, b.key) })
	return rows, nil
}

// projections are the buckets that are a function of the events.
var projections = [][]byte{bOp, bOpen, bIntent}

// compare reports where the projections of tx differ from the events.
func (r *refold) compare(tx *bolt.Tx) ([]Finding, error) {
	var found []Finding
	for _, name := range projections {
		want, err := r.rows(name)
		if err != nil {
			return nil, err
		}
		cur := tx.Bucket(name).Cursor()
		k, v := cur.First()
		for i := 0; (i < len(want) || k != nil) && len(found) < FindingsMax; {
			order := -1 // only the events have it
			switch {
			case i == len(want):
				order = 1
			case k != nil:
				order = bytes.Compare(want[i].key, k)
			}
			switch {
			case order < 0:
				found = append(found, Finding{Key: rowKey(name, want[i].key), What: "the row is missing"})
				i++
			case order > 0:
				found = append(found, Finding{Key: rowKey(name, k), What: "no event accounts for the row"})
				k, v = cur.Next()
			default:
				if !bytes.Equal(want[i].val, v) {
					found = append(found, Finding{Key: rowKey(name, k), What: fmt.Sprintf("the row is %s, the events say %s", clip(string(v), 512), clip(string(want[i].val), 512))})
				}
				i++
				k, v = cur.Next()
			}
		}
	}
	return found, nil
}

func rowKey(bucket, key []byte) string {
	switch {
	case bytes.Equal(bucket, bIntent):
		return fmt.Sprintf("%s/%q", bucket, key)
	case len(key) == 16:
		return fmt.Sprintf("%s/%s", bucket, uuid.UUID(key))
	}
	return fmt.Sprintf("%s/%x", bucket, key)
}

// rebuild replaces the projections of tx.
func (r *refold) rebuild(tx *bolt.Tx) error {
	for _, name := range projections {
		if err := tx.DeleteBucket(name); err != nil {
			return fmt.Errorf("removing projection %q: %w", name, err)
		}
		b, err := tx.CreateBucket(name)
		if err != nil {
			return fmt.Errorf("making projection %q: %w", name, err)
		}
		rows, err := r.rows(name)
		if err != nil {
			return err
		}
		for _, w := range rows {
			if err := b.Put(w.key, w.val); err != nil {
				return fmt.Errorf("writing projection %q: %w", name, err)
			}
		}
	}
	return nil
}

// load makes the ledger an opened journal starts from: open operations folded
// from their events, everything else from the scan and the intents. Findings
// say where the projections disagree; then they must be rebuilt.
func load(tx *bolt.Tx, s *scan) (*ledger, []Finding, error) {
	l := newLedger()
	l.head, l.epoch, l.fences, l.byType, l.tenures = s.head, s.epoch, s.fences, s.byType, s.tenures
	var found []Finding
	add := func(key, format string, args ...any) {
		if len(found) < FindingsMax {
			found = append(found, Finding{Key: key, What: fmt.Sprintf(format, args...)})
		}
	}
	err := tx.Bucket(bOpen).ForEach(func(k, _ []byte) error {
		if id, err := uuid.FromBytes(k); err != nil || s.open[id] == 0 {
			add(rowKey(bOpen, k), "no event accounts for the row")
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("reading the open operations: %w", err)
	}
	ids := slices.SortedFunc(maps.Keys(s.open), func(a, b OpID) int { return cmp.Compare(s.open[a], s.open[b]) })
	for _, id := range ids {
		if first := tx.Bucket(bOpen).Get(id[:]); !bytes.Equal(first, seqKey(s.open[id])) {
			add(rowKey(bOpen, id[:]), "the row is missing, or does not name event %d", s.open[id])
		}
		o, err := foldOp(tx, id)
		if err != nil {
			add(rowKey(bOp, id[:]), "the operation cannot be read: %v", err)
			continue
		}
		want, err := encodeRow(o.row())
		if err != nil {
			return nil, nil, err
		}
		if have := tx.Bucket(bOp).Get(id[:]); !bytes.Equal(have, want) {
			add(rowKey(bOp, id[:]), "the row is %s, the events say %s", clip(string(have), 512), clip(string(want), 512))
		}
		l.ops[id] = o
		if o.Started != 0 {
			for _, name := range o.locks {
				l.locks[LockKey(o.Scope, name)] = id
			}
		}
	}
	if err := l.loadIntents(tx, add); err != nil {
		return nil, nil, err
	}
	return l, found, nil
}

func (l *ledger) loadIntents(tx *bolt.Tx, add func(key, format string, args ...any)) error {
	err := tx.Bucket(bIntent).ForEach(func(k, v []byte) error {
		var r intentRow
		if err := decodeRow("intent", k, v, &r); err != nil {
			add(rowKey(bIntent, k), "%v", err)
			return nil
		}
		if o := l.ops[r.Op]; !r.Dead && (o == nil || o.Intent != string(k)) {
			add(rowKey(bIntent, k), "no open operation has the intent")
			return nil
		}
		l.intents[string(k)] = r
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading the intents: %w", err)
	}
	for id, o := range l.ops {
		if o.Intent != "" && l.intents[o.Intent].Op != id {
			add(rowKey(bIntent, []byte(o.Intent)), "the row of operation %s is missing", id)
		}
	}
	return nil
}

// foldOp folds one operation from its events. What is illegal about them is
// Verify's business: it happened.
func foldOp(tx *bolt.Tx, id OpID) (*opState, error) {
	seqs, err := opSeqs(tx, id)
	if err != nil {
		return nil, err
	}
	var o *opState
	for _, seq := range seqs {
		ev, err := eventAt(seq, tx.Bucket(bEv).Get(seqKey(seq)))
		if err != nil {
			return nil, err
		}
		f, err := parseFact(&ev)
		switch {
		case err != nil:
			return nil, &CorruptError{Seq: seq, What: err.Error()}
		case o == nil && ev.Type != OpPlanned:
			return nil, &CorruptError{Seq: seq, What: fmt.Sprintf("operation %s begins with %s", id, ev.Type)}
		case o == nil:
			o = newOpState(f)
		default:
			_ = o.apply(f)
		}
	}
	if o == nil {
		return nil, &CorruptError{Key: rowKey(bOp, id[:]), What: "the operation has no events"}
	}
	return o, nil
}
