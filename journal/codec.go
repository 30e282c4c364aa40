package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/google/uuid"
)

// appendEvent appends the stored bytes of an event: the envelope's JSON with
// Data as it was given. encoding/json would compact and escape Data.
func appendEvent(b []byte, ev *Event) []byte {
	b = append(b, `{"ts":`...)
	b = strconv.AppendInt(b, ev.Time, 10)
	b = append(b, `,"e":`...)
	b = strconv.AppendUint(b, uint64(ev.Epoch), 10)
	b = append(b, `,"t":`...)
	b = appendString(b, string(ev.Type))
	b = append(b, `,"v":`...)
	b = strconv.AppendInt(b, int64(ev.SV), 10)
	if ev.Crit {
		b = append(b, `,"c":true`...)
	}
	if ev.Op != uuid.Nil {
		b = append(b, `,"op":"`...)
		b = append(b, ev.Op.String()...)
		b = append(b, '"')
	}
	if ev.OpVer != 0 {
		b = append(b, `,"ov":`...)
		b = strconv.AppendUint(b, ev.OpVer, 10)
	}
	if ev.Prev != 0 {
		b = append(b, `,"pv":`...)
		b = strconv.AppendUint(b, uint64(ev.Prev), 10)
	}
	if ev.Step != "" {
		b = append(b, `,"s":`...)
		b = appendString(b, ev.Step)
	}
	if ev.Attempt != 0 {
		b = append(b, `,"n":`...)
		b = strconv.AppendInt(b, int64(ev.Attempt), 10)
	}
	if ev.Actor != "" {
		b = append(b, `,"by":`...)
		b = appendString(b, ev.Actor)
	}
	if ev.Build != "" {
		b = append(b, `,"bld":`...)
		b = appendString(b, ev.Build)
	}
	if len(ev.Data) != 0 {
		b = append(b, `,"d":`...)
		b = append(b, ev.Data...)
	}
	return append(b, '}')
}

// StoredSize is what the event takes in the file, in bytes: its envelope with
// payload, its hash and its codec. Pages and keys are not counted.
func (ev *Event) StoredSize() int { return evHeader + len(appendEvent(nil, ev)) }

func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			q, err := json.Marshal(s)
			if err != nil { // a string always marshals
				panic(err)
			}
			return append(b, q...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// decodeEvent decodes stored bytes. It copies: the result outlives the
// transaction.
func decodeEvent(seq Seq, codec byte, stored []byte) (Event, error) {
	if codec != codecJSON {
		return Event{}, &CorruptError{Seq: seq, What: fmt.Sprintf("unknown codec %d", codec)}
	}
	var ev Event
	if err := json.Unmarshal(stored, &ev); err != nil {
		return Event{}, &CorruptError{Seq: seq, What: "the event does not decode: " + err.Error()}
	}
	ev.Seq = seq
	return ev, nil
}

// A glance is the part of an envelope that is checked for every event when a
// journal is opened.
type glance struct {
	epoch Epoch
	typ   Type
	op    OpID
	prev  Seq
}

// glanceAt reads the first fields of stored bytes. The fast path knows the
// order appendEvent writes; anything else goes through the full decoder, so
// that the order is no part of the format.
func glanceAt(seq Seq, codec byte, stored []byte) (glance, error) {
	if codec == codecJSON {
		if g, ok := fastGlance(stored); ok {
			return g, nil
		}
	}
	ev, err := decodeEvent(seq, codec, stored)
	if err != nil {
		return glance{}, err
	}
	return glance{epoch: ev.Epoch, typ: ev.Type, op: ev.Op, prev: ev.Prev}, nil
}

func fastGlance(b []byte) (g glance, ok bool) {
	b, ok = bytes.CutPrefix(b, []byte(`{"ts":`))
	if !ok {
		return g, false
	}
	if _, b, ok = cutUint(b); !ok {
		return g, false
	}
	if b, ok = bytes.CutPrefix(b, []byte(`,"e":`)); !ok {
		return g, false
	}
	e, b, ok := cutUint(b)
	if !ok {
		return g, false
	}
	g.epoch = Epoch(e)
	if b, ok = bytes.CutPrefix(b, []byte(`,"t":"`)); !ok {
		return g, false
	}
	i := bytes.IndexByte(b, '"')
	if i < 0 {
		return g, false
	}
	if g.typ, ok = known[string(b[:i])]; !ok {
		return g, false
	}
	if b, ok = bytes.CutPrefix(b[i+1:], []byte(`,"v":`)); !ok {
		return g, false
	}
	if _, b, ok = cutUint(b); !ok {
		return g, false
	}
	b = bytes.TrimPrefix(b, []byte(`,"c":true`))
	if b, ok = bytes.CutPrefix(b, []byte(`,"op":"`)); !ok {
		// Without operation the other fields may still hide one further on;
		// these types never have one.
		return g, !ofOperation(g.typ)
	}
	if len(b) < 37 || b[36] != '"' {
		return g, false
	}
	var err error
	if g.op, err = uuid.ParseBytes(b[:36]); err != nil {
		return g, false
	}
	if b, ok = bytes.CutPrefix(b[37:], []byte(`,"ov":`)); !ok {
		return g, false
	}
	ver, b, ok := cutUint(b)
	if !ok {
		return g, false
	}
	if b, ok = bytes.CutPrefix(b, []byte(`,"pv":`)); !ok {
		return g, ver == 1
	}
	prev, _, ok := cutUint(b)
	g.prev = Seq(prev)
	return g, ok
}

func cutUint(b []byte) (n uint64, rest []byte, ok bool) {
	i := 0
	for i < len(b) && b[i] >= '0' && b[i] <= '9' && i < 19 {
		n = n*10 + uint64(b[i]-'0')
		i++
	}
	return n, b[i:], i > 0
}

// known maps the text of every type of this release to itself.
var known = func() map[string]Type {
	m := map[string]Type{}
	for _, t := range []Type{
		JournalInitialized, EpochOpened, EpochClosed, FenceRaised, IntentReleased,
		OpPlanned, OpStarted, OpSuspended, OpResumed, OpCancelling,
		OpCompleted, OpFailed, OpCancelled, OpSuperseded, OpAbandoned,
		StepStarted, StepReceipt, StepProgress, StepSucceeded, StepFailed,
		StepUnknown, StepResolved, StepCompensated,
	} {
		m[string(t)] = t
	}
	return m
}()

// ofOperation reports whether events of a known type belong to an operation.
func ofOperation(t Type) bool {
	switch t {
	case JournalInitialized, EpochOpened, EpochClosed, FenceRaised, IntentReleased:
		return false
	}
	return true
}
