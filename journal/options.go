package journal

import (
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/google/uuid"
)

// Limits of one append. They bound memory, transaction size and what one page
// of a reader may hold.
const (
	// DataMax is the largest payload of one event, in bytes.
	DataMax = 64 << 10
	// AppendEventsMax is the largest number of events of one Append.
	AppendEventsMax = 1024
	// PageMax is the largest number of events or operations one read returns.
	PageMax = 1000
)

// ExitPoisoned is the exit status of a process whose commit failed with an
// unknown outcome (EX_IOERR).
const ExitPoisoned = 74

// Options of Open. The zero value is what a manager wants.
type Options struct {
	// Build is written into epoch.opened. Default: empty.
	Build string
	// MaxSize is the largest size of the file in bytes; reaching it is ErrFull.
	// The whole of it is mapped (address space, not memory). Default 1 GiB,
	// at least 8 MiB.
	MaxSize int64
	// LockWait is how long Open waits for another process to let go.
	// Default 10 s.
	LockWait time.Duration
	// AllowNetworkFS accepts a directory on NFS, SMB or FUSE.
	AllowNetworkFS bool
	// Clock tells the informational time of events. Default time.Now.
	Clock func() time.Time
	// NewID makes the id of a new journal. Default uuid.NewRandom.
	NewID func() (uuid.UUID, error)
	// Fatal is called once, from the writer, when a commit failed with an
	// unknown outcome. It should not return. Default: log and exit with
	// ExitPoisoned. If it returns (tests), every later call gives ErrPoisoned.
	Fatal func(error)
	// CrashPoint is called at named points of creation and append, so that a
	// test can end the process there. Default: nothing.
	CrashPoint func(name string)
	// Logger gets what Open found and repaired, and losses of space.
	// Default: discard.
	Logger *slog.Logger
}

// CrashPoints lists the names Options.CrashPoint is called with, in the order
// a fresh journal meets them.
var CrashPoints = []string{
	"journal.create.before-write",
	"journal.create.before-rename",
	"journal.create.after-rename",
	"journal.append.before-commit",
	"journal.append.after-commit",
}

const (
	maxSizeDefault  = 1 << 30
	maxSizeMin      = 8 << 20
	lockWaitDefault = 10 * time.Second
)

func (o Options) withDefaults() (Options, error) {
	if o.MaxSize == 0 {
		o.MaxSize = maxSizeDefault
	}
	if o.MaxSize < maxSizeMin {
		return o, fmt.Errorf("maximum size %d: %w: at least %d bytes are needed", o.MaxSize, ErrUsage, maxSizeMin)
	}
	if o.LockWait == 0 {
		o.LockWait = lockWaitDefault
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.NewID == nil {
		o.NewID = uuid.NewRandom
	}
	if o.CrashPoint == nil {
		o.CrashPoint = func(string) {}
	}
	if o.Fatal == nil {
		log := o.Logger
		if log == nil {
			log = slog.Default() // the process ends: somebody must hear why
		}
		o.Fatal = func(err error) {
			log.Error("journal commit failed with unknown outcome, ending the process", "err", err)
			os.Exit(ExitPoisoned)
		}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o, nil
}

// A Guard holds the conditions of an append. They are evaluated by the one
// writer immediately before it writes, so of concurrent appends with the same
// guard exactly one wins. The zero value guards nothing.
type Guard struct {
	// Epoch, if not zero, must be the open epoch.
	Epoch Epoch
	// OpVer gives the version each operation must have: the OpVer of its last
	// event; 0 means that the operation must not exist.
	OpVer map[OpID]uint64
	// IntentAbsent lists intents that no open operation may have. (Planning an
	// intent that an open operation has is refused with ErrConflict even
	// without it.)
	IntentAbsent []string
}
