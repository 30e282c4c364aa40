package journal

import (
	"context"
	"errors"
	"io"
	"time"
)

var errPending = errors.New("not built yet")

// A Journal is an open journal file and its one writer. All methods are safe
// for concurrent use.
type Journal struct{}

// Open opens the journal at path for appending, making it if there is none, and
// verifies it before it is trusted: structure, chain, heads, open operations.
// The directory must exist. It waits at most Options.LockWait for another
// process. Errors: ErrLocked, ErrCorrupt, ErrTooNew, ErrNetworkFS, ErrUsage, or
// the system's. No effect may follow from the journal before Open returned nil.
func Open(ctx context.Context, path string, o Options) (*Journal, error) { return nil, errPending }

// OpenEpoch begins this process's tenure; it must come before any Append and
// succeeds once. Opened.Clean is filled in.
func (j *Journal) OpenEpoch(ctx context.Context, o Opened) (Epoch, error) { return 0, errPending }

// Append writes events, all or none, and returns the number of the last one
// once they are on stable storage. Seq, Epoch, OpVer, Time and Build are filled
// in; the numbers are dense, so the first is last-len+1. Concurrent appends
// share commits. If ctx ends before the writer took the request nothing was
// written; afterwards Append waits for the outcome.
// Errors: see errors.go; all but ErrPoisoned mean that nothing was written.
func (j *Journal) Append(ctx context.Context, g Guard, events ...Event) (Seq, error) {
	return 0, errPending
}

// Close ends the epoch, if one is open, with epoch.closed, and lets go of the file.
func (j *Journal) Close() error { return errPending }

// Watch returns a channel that gets a value after commits (several may be
// merged into one) and a function that ends the watch.
func (j *Journal) Watch() (<-chan struct{}, func()) { return nil, func() {} }

// ID is the journal's id.
func (j *Journal) ID() string { return "" }

// Head is the last durable event.
func (j *Journal) Head() Head { return Head{} }

// Epoch is the open epoch, or the last one before OpenEpoch.
func (j *Journal) Epoch() Epoch { return 0 }

// OpenOps lists the operations that have not ended, in the order they were planned.
func (j *Journal) OpenOps() []OpID { return nil }

// MaxFence is the highest fence raised for a scope; 0 if none.
func (j *Journal) MaxFence(scope string) uint64 { return 0 }

// Read returns at most max events (at most PageMax and 4 MiB) from a sequence number on. Empty: there are none yet.
func (j *Journal) Read(from Seq, max int) ([]Event, error) { return nil, errPending }

// ReadOp returns all events of an operation; ErrNotFound if there is none.
func (j *Journal) ReadOp(id OpID) ([]Event, error) { return nil, errPending }

// Ops lists operations, newest first (by id, which is time-ordered), after cursor (zero: from the newest).
func (j *Journal) Ops(cursor OpID, max int, f Filter) ([]OpHead, error) { return nil, errPending }

// Tombstones lists the intents of abandoned operations, sorted by intent.
func (j *Journal) Tombstones() ([]Tombstone, error) { return nil, errPending }

// Epochs lists all tenures, oldest first.
func (j *Journal) Epochs() []Tenure { return nil }

// An Image is what a fold needs to start from the head instead of from the first event. All of one instant.
type Image struct {
	Head       Head
	Epoch      Epoch
	Open       [][]Event // the streams of the open operations, in the order they were planned
	Tombstones []Tombstone
	Fences     map[string]uint64
	Epochs     []Tenure
}

// Image reads the state of open operations in one instant.
func (j *Journal) Image() (Image, error) { return Image{}, errPending }

// Stats returns figures.
func (j *Journal) Stats() (Stats, error) { return Stats{}, errPending }

// Snapshot writes a consistent copy of the file to w.
func (j *Journal) Snapshot(ctx context.Context, w io.Writer) (Manifest, error) {
	return Manifest{}, errPending
}

// Verify takes a snapshot and verifies it.
func (j *Journal) Verify(ctx context.Context) (Report, error) { return Report{}, errPending }

// Reader returns the journal as a Reader; closing it does not close the journal.
func (j *Journal) Reader() Reader { return nil }

// A Finding is one thing wrong with a journal.
type Finding struct {
	Seq  Seq    `json:"seq,omitempty"`
	Key  string `json:"key,omitempty"` // "bucket/key"
	What string `json:"what"`
}

// A Report is what Verify found. It is good when Findings is empty.
type Report struct {
	JournalID string        `json:"journalID"`
	Format    int           `json:"format"`
	Epoch     Epoch         `json:"epoch"`
	Head      Head          `json:"head"`
	Tail      Seq           `json:"tail"`
	Events    uint64        `json:"events"`
	Ops       int           `json:"ops"`
	Open      int           `json:"open"`
	Bytes     int64         `json:"bytes"`
	Took      time.Duration `json:"took"`
	Findings  []Finding     `json:"findings"` // at most FindingsMax
}

// OK reports whether nothing was found.
func (r *Report) OK() bool { return len(r.Findings) == 0 }

// Verify checks the file at path, which no process may hold for writing.
func Verify(ctx context.Context, path string) (Report, error) { return Report{}, errPending }

// A Reader reads a journal, live over the socket or from a file.
type Reader interface {
	Info(ctx context.Context) (Info, error)
	Stats(ctx context.Context) (Stats, error)
	Ops(ctx context.Context, cursor OpID, max int, f Filter) ([]OpHead, error)
	Events(ctx context.Context, from Seq, max int) ([]Event, error)
	OpEvents(ctx context.Context, id OpID) ([]Event, error)
	Epochs(ctx context.Context) ([]Tenure, error)
	Tombstones(ctx context.Context) ([]Tombstone, error)
	// Follow calls fn for each event from a number on, in order, and, when the journal is live, for each new one until ctx ends.
	Follow(ctx context.Context, from Seq, fn func(Event) error) error
	Verify(ctx context.Context) (Report, error)
	Snapshot(ctx context.Context, w io.Writer) (Manifest, error)
	Close() error
}

// Info identifies a journal.
type Info struct {
	Source    string `json:"source"` // "live" or "file"
	Path      string `json:"path"`
	JournalID string `json:"journalID"`
	Format    int    `json:"format"`
	Head      Head   `json:"head"`
	Tail      Seq    `json:"tail"`
	Epoch     Epoch  `json:"epoch"`
}

// OpenReader opens a file nobody writes for reading, under a shared lock.
func OpenReader(ctx context.Context, path string) (Reader, error) { return nil, errPending }

// An Act is something a person asks of an open operation.
type Act struct {
	Verb      string `json:"verb"` // "retry", "resolve", "cancel", "abandon"
	Op        OpID   `json:"op"`
	Step      string `json:"step,omitempty"`    // resolve
	Outcome   string `json:"outcome,omitempty"` // resolve: "done" or "not-done"
	Reason    string `json:"reason"`
	Person    string `json:"person"`
	IfVersion uint64 `json:"ifVersion,omitempty"` // of the operation; 0: any
}

// Acted is the answer to an Act.
type Acted struct {
	Seq     Seq    `json:"seq,omitempty"` // of the event that records it
	Message string `json:"message,omitempty"`
}

// An Actor carries out what people ask. Its errors travel as ErrNotFound, ErrConflict, ErrIllegal, ErrUsage, ErrFull or, anything else, ErrRefused.
type Actor interface {
	Act(ctx context.Context, a Act) (Acted, error)
}

// An ActorFunc is a function that is an Actor.
type ActorFunc func(ctx context.Context, a Act) (Acted, error)

// Act calls f.
func (f ActorFunc) Act(ctx context.Context, a Act) (Acted, error) { return f(ctx, a) }

// SocketPath is where the server of the journal at path listens: journal.db -> journal.sock.
func SocketPath(path string) string { return "" }

// Serve answers readers on a unix socket until ctx ends. actor may be nil: reads only.
func Serve(ctx context.Context, j *Journal, socket string, actor Actor) error { return errPending }

// A Client reads a live journal over its socket and asks for acts.
type Client struct{ Reader }

// Dial connects to the server at a socket; ErrUnavailable if there is none.
func Dial(ctx context.Context, socket string) (*Client, error) { return nil, errPending }

// Act asks the journal's owner.
func (c *Client) Act(ctx context.Context, a Act) (Acted, error) { return Acted{}, errPending }
