package journal

import (
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// An opRow is what the op bucket holds of an operation: the parts of its
// summary that change. The rest is in its op.planned, which First names.
// Every append rewrites the row, so it is small.
type opRow struct {
	State   string `json:"st"`
	Ver     uint64 `json:"v"`
	First   Seq    `json:"f"`
	Last    Seq    `json:"l"`
	Started int64  `json:"s,omitempty"`
	Updated int64  `json:"u"`
	Ended   int64  `json:"e,omitempty"`
	Done    int    `json:"d,omitempty"`
	StepIs  string `json:"si,omitempty"`
	Attempt int    `json:"n,omitempty"`
	Cause   string `json:"c,omitempty"`
	Warning string `json:"w,omitempty"`
	Alien   string `json:"a,omitempty"`
}

// row is the row of a summary.
func (h *OpHead) row() opRow {
	return opRow{
		State: h.State, Ver: h.Ver, First: h.First, Last: h.Last, Started: h.Started, Updated: h.Updated, Ended: h.Ended,
		Done: h.Done, StepIs: h.StepIs, Attempt: h.Attempt, Cause: h.Cause, Warning: h.Warning, Alien: h.Alien,
	}
}

// readRow reads the row of an operation; nil if there is none.
func readRow(tx *bolt.Tx, id OpID) (*opRow, error) {
	v := tx.Bucket(bOp).Get(id[:])
	if v == nil {
		return nil, nil
	}
	var r opRow
	if err := decodeRow("op", id[:], v, &r); err != nil {
		return nil, err
	}
	return &r, nil
}

// head completes a row to a summary from the operation's first event.
func (r *opRow) head(tx *bolt.Tx, id OpID) (*OpHead, error) {
	ev, err := eventAt(r.First, tx.Bucket(bEv).Get(seqKey(r.First)))
	if err != nil {
		return nil, err
	}
	f, err := parseFact(&ev)
	if err != nil {
		return nil, &CorruptError{Seq: r.First, What: err.Error()}
	}
	if ev.Op != id || ev.Type != OpPlanned {
		return nil, &CorruptError{Seq: r.First, Key: rowKey(bOp, id[:]), What: fmt.Sprintf("the row names a %s of %s as the first event", ev.Type, ev.Op)}
	}
	h := newOpState(f).OpHead
	h.State, h.Ver, h.Last, h.Started, h.Updated, h.Ended = r.State, r.Ver, r.Last, r.Started, r.Updated, r.Ended
	h.Done, h.StepIs, h.Attempt, h.Cause, h.Warning, h.Alien = r.Done, r.StepIs, r.Attempt, r.Cause, r.Warning, r.Alien
	h.Step = ""
	if r.Done >= 0 && r.Done < len(f.plan.Steps) {
		h.Step = f.plan.Steps[r.Done].ID
	}
	return &h, nil
}
