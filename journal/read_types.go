package journal

import (
	"encoding/hex"
	"fmt"
	"time"
)

// A Hash is one link of the chain: a SHA-256 sum. Hex in text.
type Hash [32]byte

func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText writes the hash as hex.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads the hash from hex.
func (h *Hash) UnmarshalText(b []byte) error {
	if hex.DecodedLen(len(b)) != len(h) {
		return fmt.Errorf("hash of %d hex digits: want %d", len(b), 2*len(h))
	}
	if _, err := hex.Decode(h[:], b); err != nil {
		return fmt.Errorf("decoding hash: %w", err)
	}
	return nil
}

// A Head is a point of the chain: an event and the hash over everything up to
// and including it.
type Head struct {
	Seq  Seq  `json:"seq"`
	Hash Hash `json:"hash"`
}

// An OpHead is the summary of one operation, without its plan. Times are unix
// nanoseconds.
type OpHead struct {
	ID         OpID   `json:"id"`
	Kind       string `json:"kind"`
	Scope      string `json:"scope"`
	Object     string `json:"object"`
	Target     string `json:"target"`
	Intent     string `json:"intent,omitempty"`
	Action     string `json:"action,omitempty"`     // planner's action that asked for it
	Difference string `json:"difference,omitempty"` // first 160 bytes of the plan's
	Generation int64  `json:"generation,omitempty"`
	Supersedes []OpID `json:"supersedes,omitempty"`

	State   string `json:"state"` // a view.OpState
	Ver     uint64 `json:"version"`
	Epoch   Epoch  `json:"epoch"` // that planned it
	First   Seq    `json:"first"`
	Last    Seq    `json:"last"`
	Planned int64  `json:"planned"`
	Started int64  `json:"started,omitempty"`
	Updated int64  `json:"updated"`
	Ended   int64  `json:"ended,omitempty"`

	Steps   int    `json:"steps"`          // in the plan
	Done    int    `json:"done"`           // succeeded, from the front
	Step    string `json:"step,omitempty"` // id of the first that has not succeeded
	StepIs  string `json:"stepState,omitempty"`
	Attempt int    `json:"attempt,omitempty"` // of that step
	Cause   string `json:"cause,omitempty"`   // of a suspension
	Warning string `json:"warning,omitempty"` // of a completion
	Alien   string `json:"alien,omitempty"`   // critical event type this binary does not know
}

// Terminal reports whether the operation has ended.
func (h *OpHead) Terminal() bool { return h.Ended != 0 }

// A Tombstone is the trace of an abandoned operation's intent: the same
// difference is not planned again until the generation it was planned from or
// the difference itself changes, or a person retries.
type Tombstone struct {
	Intent     string `json:"intent"`
	Op         OpID   `json:"op"`
	Generation int64  `json:"generation,omitempty"`
	Reason     string `json:"reason"`
}

// A Tenure is one epoch: who held the journal, from which event to which.
type Tenure struct {
	Epoch  Epoch  `json:"epoch"`
	Opened Seq    `json:"opened"`           // its epoch.opened
	Closed Seq    `json:"closed,omitempty"` // its epoch.closed; 0: still open, or ended without
	Time   int64  `json:"time"`             // of Opened, unix nanoseconds
	Build  string `json:"build,omitempty"`
	By     Opened `json:"by"`
}

// A Filter selects operations. Zero fields select everything.
type Filter struct {
	Open   bool      `json:"open,omitempty"`   // only operations that have not ended
	States []string  `json:"states,omitempty"` // any of
	Kinds  []string  `json:"kinds,omitempty"`
	Scope  string    `json:"scope,omitempty"`
	Object string    `json:"object,omitempty"`
	Target string    `json:"target,omitempty"`
	Since  time.Time `json:"since,omitzero"`   // planned or changed at or after
	Prefix string    `json:"prefix,omitempty"` // of the id's text
}

// Stats are figures about the journal and this process's use of it.
type Stats struct {
	Path      string          `json:"path"`
	JournalID string          `json:"journalID"`
	Head      Head            `json:"head"`
	Tail      Seq             `json:"tail"` // first retained event
	Epoch     Epoch           `json:"epoch"`
	Events    uint64          `json:"events"`
	ByType    map[Type]uint64 `json:"byType"`
	OpsBy     map[string]int  `json:"opsByState"`

	FileBytes int64 `json:"fileBytes"` // apparent size
	UsedBytes int64 `json:"usedBytes"` // pages in use
	FreeBytes int64 `json:"freeBytes"` // pages free for reuse
	MaxBytes  int64 `json:"maxBytes"`
	Full      bool  `json:"full"` // refuses events that begin something

	Commits   uint64        `json:"commits"`   // of this process
	Appends   uint64        `json:"appends"`   // of this process; several share a commit
	CommitP50 time.Duration `json:"commitP50"` // over the last 4096 commits
	CommitP99 time.Duration `json:"commitP99"`
}

// A Manifest describes a snapshot.
type Manifest struct {
	JournalID string `json:"journalID"`
	Format    int    `json:"format"`
	Epoch     Epoch  `json:"epoch"`
	Head      Head   `json:"head"`
	Size      int64  `json:"size"`   // bytes
	SHA256    Hash   `json:"sha256"` // of those bytes
}
