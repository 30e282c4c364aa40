package journal

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"
)

// readBytesMax bounds what one read copies out of a transaction.
const readBytesMax = 4 << 20

// readEvents copies events from a number on, at most n and readBytesMax.
func readEvents(tx *bolt.Tx, m *metaState, from Seq, n int) ([]Event, error) {
	if n <= 0 || n > PageMax {
		n = PageMax
	}
	from = max(from, 1)
	if from < m.tail.Seq {
		return nil, fmt.Errorf("event %d: the journal begins at %d: %w", from, m.tail.Seq, ErrNotFound)
	}
	var list []Event
	size := 0
	cur := tx.Bucket(bEv).Cursor()
	for k, v := cur.Seek(seqKey(from)); k != nil && len(list) < n && size < readBytesMax; k, v = cur.Next() {
		ev, err := eventAt(Seq(binary.BigEndian.Uint64(k)), v)
		if err != nil {
			return nil, err
		}
		list = append(list, ev)
		size += len(v)
	}
	return list, nil
}

func eventAt(seq Seq, v []byte) (Event, error) {
	codec, _, stored, ok := splitEv(v)
	if !ok {
		return Event{}, &CorruptError{Seq: seq, What: "the event is missing or cut short"}
	}
	return decodeEvent(seq, codec, stored)
}

// opSeqs lists the events of an operation, oldest first: from its last one each
// names the one before. Empty if there is no such operation.
func opSeqs(tx *bolt.Tx, id OpID) ([]Seq, error) {
	h, err := readRow(tx, id)
	if err != nil || h == nil {
		return nil, err
	}
	seqs := make([]Seq, 0, min(h.Ver, PageMax))
	ev := tx.Bucket(bEv)
	for seq := h.Last; seq != 0; {
		codec, _, stored, ok := splitEv(ev.Get(seqKey(seq)))
		if !ok {
			return nil, &CorruptError{Seq: seq, Key: rowKey(bOp, id[:]), What: "the event is missing or cut short"}
		}
		g, err := glanceAt(seq, codec, stored)
		if err != nil {
			return nil, err
		}
		if g.op != id || g.prev >= seq {
			return nil, &CorruptError{Seq: seq, Key: rowKey(bOp, id[:]), What: "the event is not the operation's, or names a later one as the one before"}
		}
		seqs = append(seqs, seq)
		seq = g.prev
	}
	slices.Reverse(seqs)
	return seqs, nil
}

// readOp copies events of an operation from a number on, at most PageMax and
// readBytesMax.
func readOp(tx *bolt.Tx, id OpID, from Seq) ([]Event, error) {
	seqs, err := opSeqs(tx, id)
	if err != nil {
		return nil, err
	}
	at, _ := slices.BinarySearch(seqs, from)
	var list []Event
	size := 0
	for _, seq := range seqs[at:min(len(seqs), at+PageMax)] {
		v := tx.Bucket(bEv).Get(seqKey(seq))
		ev, err := eventAt(seq, v)
		if err != nil {
			return nil, err
		}
		list = append(list, ev)
		if size += len(v); size >= readBytesMax {
			break
		}
	}
	return list, nil
}

// opsScanMax bounds the operations one transaction looks at for a filter.
const opsScanMax = 10_000

// readOps lists summaries, newest first, that come after cursor in that order.
// next is where to go on; zero when the list is at its end.
func readOps(tx *bolt.Tx, cursor OpID, max int, f *Filter) (list []OpHead, next OpID, err error) {
	if max <= 0 || max > PageMax {
		max = PageMax
	}
	cur := tx.Bucket(bOp).Cursor()
	k, v := cur.Last()
	if cursor != (OpID{}) {
		if at, _ := cur.Seek(cursor[:]); at != nil {
			k, v = cur.Prev()
		} else {
			k, v = cur.Last()
		}
	}
	for n := 0; k != nil; k, v = cur.Prev() {
		if len(k) != 16 {
			return nil, next, &CorruptError{Key: rowKey(bOp, k), What: "the key has a wrong length"}
		}
		var r opRow
		if err := decodeRow("op", k, v, &r); err != nil {
			return nil, next, err
		}
		copy(next[:], k)
		if f.matchRow(next, &r) {
			h, err := r.head(tx, next)
			if err != nil {
				return nil, next, err
			}
			if f.matchPlan(h) {
				list = append(list, *h)
			}
		}
		if n++; len(list) == max || n == opsScanMax {
			return list, next, nil
		}
	}
	return list, OpID{}, nil
}

func anyOf(list []string, s string) bool { return len(list) == 0 || slices.Contains(list, s) }

func (f *Filter) matchRow(id OpID, r *opRow) bool {
	return (!f.Open || r.Ended == 0) && anyOf(f.States, r.State) &&
		(f.Since.IsZero() || r.Updated >= f.Since.UnixNano()) &&
		(f.Prefix == "" || strings.HasPrefix(id.String(), f.Prefix))
}

func (f *Filter) matchPlan(h *OpHead) bool {
	eq := func(want, s string) bool { return want == "" || want == s }
	return anyOf(f.Kinds, h.Kind) && eq(f.Scope, h.Scope) && eq(f.Object, h.Object) && eq(f.Target, h.Target)
}
