package journal

import (
	"errors"
	"fmt"
)

// Errors of opening a journal.
var (
	// ErrCorrupt: the file is damaged. The error in the chain is a
	// *CorruptError that says what and where.
	ErrCorrupt = errors.New("journal is damaged")
	// ErrLocked: another process holds the file. The error in the chain is a
	// *LockedError that names it where the kernel tells.
	ErrLocked = errors.New("journal is in use by another process")
	// ErrTooNew: the file was written by a newer release and this one must not
	// read it (or, when opening it for appending, must not write it).
	ErrTooNew = errors.New("journal was written by a newer release")
	// ErrNetworkFS: the directory is on a file system whose locks and mappings
	// cannot be trusted (NFS, SMB, FUSE and their kind).
	ErrNetworkFS = errors.New("journal directory is on a network file system")
)

// Errors of appending. All but ErrPoisoned mean: nothing was written.
var (
	// ErrConflict: a guard did not hold. The caller's picture is stale: read
	// again, decide again.
	ErrConflict = errors.New("journal guard does not hold")
	// ErrIllegal: the event contradicts the history of its operation or of the
	// journal. It is a bug of the caller, or a race it did not guard against.
	ErrIllegal = errors.New("event contradicts the journal")
	// ErrTooLarge: the event, or the append, is larger than allowed.
	ErrTooLarge = errors.New("event is too large")
	// ErrFull: the disk or the journal's maximum size is reached. Events that
	// begin something are refused until there is space; events that end
	// something are still taken.
	ErrFull = errors.New("journal is full")
	// ErrNoEpoch: OpenEpoch has not succeeded yet.
	ErrNoEpoch = errors.New("journal has no open epoch")
	// ErrClosed: the journal, or the reader, was closed.
	ErrClosed = errors.New("journal is closed")
	// ErrPoisoned: a commit failed in a way that leaves its outcome unknown.
	// The process must end; the next one finds out.
	ErrPoisoned = errors.New("journal commit failed with unknown outcome")
)

// Errors of reading and of the socket.
var (
	// ErrNotFound: no such operation, or a sequence number below the tail.
	ErrNotFound = errors.New("not found in the journal")
	// ErrUsage: the request makes no sense as given.
	ErrUsage = errors.New("bad journal request")
	// ErrRefused: whoever carries the operations out refused the request.
	ErrRefused = errors.New("request refused")
	// ErrUnavailable: the server cannot be reached or is too busy.
	ErrUnavailable = errors.New("journal server is not available")
)

// A CorruptError says what is damaged and where. Seq and Key are set when the
// damage is in the event of that number, or under that key ("bucket/key").
type CorruptError struct {
	Path string
	Seq  Seq
	Key  string
	What string
}

func (e *CorruptError) Error() string {
	s := "journal is damaged"
	if e.Path != "" {
		s = fmt.Sprintf("journal %q is damaged", e.Path)
	}
	if e.Seq != 0 {
		s += fmt.Sprintf(" at event %d", e.Seq)
	}
	if e.Key != "" {
		s += fmt.Sprintf(" at %s", e.Key)
	}
	return s + ": " + e.What
}

// Is makes errors.Is(err, ErrCorrupt) true.
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

// A LockedError names the process that holds the journal's lock. PID is 0 when
// the kernel does not tell, for example across pid namespaces.
type LockedError struct {
	Path    string
	PID     int
	Command string
}

func (e *LockedError) Error() string {
	switch {
	case e.PID == 0:
		return fmt.Sprintf("journal %q is in use by another process", e.Path)
	case e.Command == "":
		return fmt.Sprintf("journal %q is in use by process %d", e.Path, e.PID)
	}
	return fmt.Sprintf("journal %q is in use by process %d (%s)", e.Path, e.PID, e.Command)
}

// Is makes errors.Is(err, ErrLocked) true.
func (e *LockedError) Is(target error) bool { return target == ErrLocked }

// IsCorrupt reports whether err says that the file is damaged.
func IsCorrupt(err error) bool { return errors.Is(err, ErrCorrupt) }

// IsLocked reports whether err says that another process holds the file.
func IsLocked(err error) bool { return errors.Is(err, ErrLocked) }

// IsTooNew reports whether err says that a newer release wrote the file.
func IsTooNew(err error) bool { return errors.Is(err, ErrTooNew) }

// IsFull reports whether err says that there is no space.
func IsFull(err error) bool { return errors.Is(err, ErrFull) }

// IsConflict reports whether err says that a guard did not hold.
func IsConflict(err error) bool { return errors.Is(err, ErrConflict) }

// IsIllegal reports whether err says that an event contradicts the history.
func IsIllegal(err error) bool { return errors.Is(err, ErrIllegal) }
