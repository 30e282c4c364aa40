package gluster

import (
	"errors"
	"fmt"
)

// A Class says what an error means for whoever ran the command.
type Class string

// The classes. Their values are those of the executor.
const (
	Transient Class = "transient" // nothing changed; try again later
	Busy      Class = "busy"      // nothing changed; somebody holds the lock
	Permanent Class = "permanent" // trying again does not help
	Uncertain Class = "unknown"   // it may have had, or may yet have, its effect
	Fenced    Class = "fenced"    // somebody else owns the server
)

// A Verdict is how GlusterFS's answer is to be read; finer than a Class.
type Verdict string

// The verdicts.
const (
	Done    Verdict = "done"    // already in the wanted state; verify
	Retry   Verdict = "retry"   // nothing changed; try later
	Unknown Verdict = "unknown" // may have been applied: read all servers first
	Need    Verdict = "need"    // something else has to happen first
	Term    Verdict = "term"    // wrong input
)

// A Phase is the part of glusterd's transaction that failed.
type Phase string

// The phases. An answer that names none has PhaseNone: it came from the
// originator before it asked the others.
const (
	PhaseNone     Phase = ""
	PhaseSend     Phase = "send" // between us and glusterd: no answer, no daemon, cut output
	PhaseLock     Phase = "lock"
	PhaseStage    Phase = "stage" // Staging, Pre Validation: nothing is committed
	PhaseCommit   Phase = "commit"
	PhaseBrickOp  Phase = "brick-op"
	PhasePost     Phase = "post" // Post commit, Post Validation: everything is committed
	PhaseUnlock   Phase = "unlock"
	phaseInternal Phase = "internal"
)

// An Error is an answer that is not clean, or the lack of one.
type Error struct {
	Argv     []string
	Exit     int
	OpRet    int
	OpErrno  int
	Text     string // what gluster said, one line, bounded
	Inner    string // Text without the phase in front of it
	Host     string // the server that Text names as failing, if any
	Phase    Phase
	Verdict  Verdict
	Class    Class
	Reason   Reason
	TimedOut bool // killed at its deadline, or glusterd did not answer in the CLI's
	Err      error
}

// Error is one line: the command, why, and gluster's own words.
func (e *Error) Error() string {
	s := fmt.Sprintf("running gluster %s: %s", verb(e.Argv), e.Reason)
	if e.Text != "" {
		s += ": " + e.Text
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the runner's error.
func (e *Error) Unwrap() error { return e.Err }

func verdictOf(err error) Verdict {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Verdict
	}
	return ""
}

// ReasonOf returns the reason of a gluster error, or "" of any other.
func ReasonOf(err error) Reason {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Reason
	}
	return ""
}

// IsDone reports whether the wanted state is there already, by gluster's word.
func IsDone(err error) bool { return verdictOf(err) == Done }

// IsRetry reports whether nothing changed and trying later may help; busy
// answers are included.
func IsRetry(err error) bool { return verdictOf(err) == Retry }

// IsUnknown reports whether the command may have been, or may yet be, applied.
func IsUnknown(err error) bool { return verdictOf(err) == Unknown }

// IsNeed reports whether something else has to happen first.
func IsNeed(err error) bool { return verdictOf(err) == Need }

// IsTerminal reports whether the input is wrong: trying again does not help.
func IsTerminal(err error) bool { return verdictOf(err) == Term }

// IsBusy reports whether another transaction, or another command on the
// server, holds the lock.
func IsBusy(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Class == Busy
}
