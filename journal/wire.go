package journal

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
)

// A wireEvent is an event with its number, as JSON for readers.
type wireEvent struct {
	Seq Seq `json:"seq"`
	Event
}

func toWire(list []Event) []wireEvent {
	out := make([]wireEvent, len(list))
	for i, ev := range list {
		out[i] = wireEvent{ev.Seq, ev}
	}
	return out
}

func fromWire(list []wireEvent) []Event {
	out := make([]Event, len(list))
	for i, w := range list {
		out[i] = w.Event
		out[i].Seq = w.Seq
	}
	return out
}

// The server speaks newline-terminated JSON on a unix socket: one wireRequest,
// then one wireReply, any number of times per connection. follow is answered by
// replies without end (empty ones keep the connection alive); snapshot by a
// reply with the size, that many bytes, and a reply with the manifest.
type wireRequest struct {
	Do     string  `json:"do"`
	Cursor OpID    `json:"cursor,omitzero"` // ops
	Op     OpID    `json:"op,omitzero"`     // op
	From   Seq     `json:"from,omitempty"`  // events, op, follow
	Max    int     `json:"max,omitempty"`   // events, ops
	Filter *Filter `json:"filter,omitempty"`
	Act    *Act    `json:"act,omitempty"`
}

// What a request may ask for.
const (
	doInfo       = "info"
	doStats      = "stats"
	doOps        = "ops"
	doOp         = "op"
	doEvents     = "events"
	doFollow     = "follow"
	doEpochs     = "epochs"
	doTombstones = "tombstones"
	doVerify     = "verify"
	doSnapshot   = "snapshot"
	doAct        = "act"
)

// A wireReply is an answer or an error.
type wireReply struct {
	OK    json.RawMessage `json:"ok,omitempty"`
	Error *wireError      `json:"error,omitempty"`
}

type wireError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// codes are the errors that keep their meaning over the socket.
var codes = map[string]error{
	"not-found":   ErrNotFound,
	"usage":       ErrUsage,
	"conflict":    ErrConflict,
	"illegal":     ErrIllegal,
	"full":        ErrFull,
	"too-large":   ErrTooLarge,
	"no-epoch":    ErrNoEpoch,
	"refused":     ErrRefused,
	"corrupt":     ErrCorrupt,
	"unavailable": ErrUnavailable,
}

const codeInternal = "internal"

func toWireError(err error) *wireError {
	if errors.Is(err, ErrClosed) || errors.Is(err, ErrPoisoned) {
		return &wireError{"unavailable", err.Error()}
	}
	for code, sentinel := range codes {
		if errors.Is(err, sentinel) {
			return &wireError{code, err.Error()}
		}
	}
	return &wireError{codeInternal, err.Error()}
}

// A RemoteError is an error the server told. errors.Is finds the sentinel it
// stands for, if any.
type RemoteError struct {
	Code    string // "not-found", "conflict", ...; "internal" for what has no sentinel
	Message string
}

func (e *RemoteError) Error() string { return e.Message }

// Is reports whether the server's error was target.
func (e *RemoteError) Is(target error) bool { return codes[e.Code] == target && target != nil }

// SocketPath is where the server of the journal at path listens: beside it, as
// journal.sock for journal.db.
func SocketPath(path string) string {
	return strings.TrimSuffix(path, filepath.Ext(path)) + ".sock"
}
