package gate

import (
	"errors"
	"fmt"
	"strings"
)

// errHarmless is an error that proves nothing was changed.
type errHarmless string

func (e errHarmless) Error() string    { return string(e) }
func (e errHarmless) NotStarted() bool { return true }

// Errors of transports.
var (
	ErrNotStarted   error = errHarmless("the request did not reach the server")
	ErrNotInstalled error = errHarmless("the server has no gate")
)

// Errors a gate answers with.
var (
	// ErrUnclaimed: nobody claimed the server; Claim comes first.
	ErrUnclaimed error = errHarmless("nobody claimed the server yet")
	// ErrNotFresh: a Claim with Fresh of a server whose glusterd has peers or volumes.
	ErrNotFresh error = errHarmless("glusterd on the server has peers or volumes")
	// ErrNoReceipt: the attempt is not on record, it never began here.
	ErrNoReceipt error = errHarmless("no receipt of this attempt")
	// ErrNoGluster: the server has no gluster command.
	ErrNoGluster error = errHarmless("the server has no gluster command")
	// ErrNotPod: a device was named on a server that is no pod of ours.
	ErrNotPod error = errHarmless("the server is not a pod of Anthill")
	// ErrRefused: the request itself is wrong (a usage error, a command outside the lists).
	ErrRefused error = errHarmless("the gate refuses the request")
	// ErrInterrupted: the attempt began and the gate did not live to see its end. It may have happened.
	ErrInterrupted = errors.New("the attempt was interrupted, its outcome is unknown")
	// ErrState: the gate cannot read or write its own files, or another local failure.
	ErrState = errors.New("the gate failed on the server")
)

// NotStarted reports whether err proves that the request changed nothing. Any
// other error of a mutating request means that it may have happened.
func NotStarted(err error) bool {
	var h interface{ NotStarted() bool }
	return errors.As(err, &h) && h.NotStarted()
}

// A FencedError says that somebody else owns the server. Nothing happened.
type FencedError struct {
	Owner  Owner  // as recorded on the server
	Reason Reason // ReasonForeignPool, ReasonOtherInstance or ReasonLowerFence
	Text   string
}

func (e *FencedError) Error() string { return fmt.Sprintf("fenced: %s", e.Text) }

// NotStarted is true: a fenced request does nothing.
func (e *FencedError) NotStarted() bool { return true }

// A BusyError says that an earlier command still runs on the server, or that
// all sessions of the connection are taken.
type BusyError struct {
	Text    string
	Running string // the attempt that holds the server, if known
	Same    bool   // it is the very attempt of the request: it has happened or will
}

func (e *BusyError) Error() string { return e.Text }

// NotStarted is true unless it is the request's own attempt that runs.
func (e *BusyError) NotStarted() bool { return !e.Same }

// A MountError says that a brick directory is not on the file system it was
// registered on, or may not be registered. Nothing happened.
type MountError struct {
	Mounts []Mount // those that are wrong, each with its Error
	Text   string
}

func (e *MountError) Error() string { return e.Text }

// NotStarted is true: the mount is checked before anything is touched.
func (e *MountError) NotStarted() bool { return true }

// A BrickError says what is in the way at a brick path. Nothing happened.
type BrickError struct {
	Brick BrickInfo
	Text  string
}

func (e *BrickError) Error() string { return e.Text }

// NotStarted is true: the path is checked before anything is touched.
func (e *BrickError) NotStarted() bool { return true }

// A DeviceError says why a device is neither formatted nor mounted. Nothing
// happened.
type DeviceError struct {
	Device Device
	Text   string
}

func (e *DeviceError) Error() string { return e.Text }

// NotStarted is true: the device is looked at before anything is touched.
func (e *DeviceError) NotStarted() bool { return true }

// Err is nil for ExitOK and otherwise the typed error of the reply to req.
func (r Reply) Err(req Request) error {
	if r.Exit == ExitOK {
		return nil
	}
	text := oneLine(r.Error)
	switch r.Reason {
	case ReasonForeignPool, ReasonOtherInstance, ReasonLowerFence:
		e := &FencedError{Reason: r.Reason, Text: text}
		if r.Owner != nil {
			e.Owner = *r.Owner
		}
		return e
	case ReasonBusy:
		e := &BusyError{Text: text}
		if r.Receipt != nil {
			e.Running = r.Receipt.Attempt
			e.Same = req.Attempt != "" && e.Running == req.Attempt
		}
		return e
	case ReasonMount:
		return &MountError{Mounts: r.Mounts, Text: text}
	case ReasonBrick:
		e := &BrickError{Text: text}
		if r.Brick != nil {
			e.Brick = *r.Brick
		}
		return e
	case ReasonDevice:
		e := &DeviceError{Text: text}
		if r.Device != nil {
			e.Device = *r.Device
		}
		return e
	}
	return fmt.Errorf("%w: %s", sentinel(r), text)
}

func sentinel(r Reply) error {
	switch r.Reason {
	case ReasonUnclaimed:
		return ErrUnclaimed
	case ReasonNotFresh:
		return ErrNotFresh
	case ReasonNoReceipt:
		return ErrNoReceipt
	case ReasonInterrupted:
		return ErrInterrupted
	case ReasonNoGluster:
		return ErrNoGluster
	case ReasonNotInstalled:
		return ErrNotInstalled
	case ReasonNotPod:
		return ErrNotPod
	case ReasonUsage, ReasonVersion, ReasonNotAllowed, ReasonAttemptReused:
		return ErrRefused
	}
	return ErrState
}

// oneLine keeps texts from a server fit for a condition: one line, bounded.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 512 {
		s = s[:512] + "..."
	}
	if s == "" {
		return "no reason given"
	}
	return s
}
