package executor

import (
	"context"
	"errors"
	"fmt"
)

// A Class says what an error means for the step that met it. It is decided
// where the error is made and acted upon in one place (decide.go).
type Class string

// The classes.
const (
	Transient Class = "transient" // nothing changed; try again later
	Busy      Class = "busy"      // nothing changed; somebody holds the lock; not a failure
	Permanent Class = "permanent" // trying again does not help; a person or a new plan is needed
	Uncertain Class = "unknown"   // it may have had, or may yet have, its effect
	Fenced    Class = "fenced"    // another operator owns this pool; stop
)

// An Error carries a class and a CamelCase reason.
type Error struct {
	Class  Class
	Reason string
	Output string // bounded tail of what a command said
	err    error
}

func (e *Error) Error() string { return e.err.Error() }
func (e *Error) Unwrap() error { return e.err }

// Errorf makes an error of a class; format as for fmt.Errorf.
func Errorf(c Class, reason, format string, args ...any) *Error {
	return &Error{Class: c, Reason: reason, err: fmt.Errorf(format, args...)}
}

// ClassOf finds the class of err. An error without one is Uncertain, except
// that a context that ended by itself is Transient for reads and Uncertain for
// effects, which is why the caller says which it was.
func ClassOf(err error, effect bool) (Class, string) {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Class, e.Reason
	}
	if !effect {
		return Transient, "ProbeFailed"
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return Uncertain, "DeadlineExceeded"
	}
	return Uncertain, "NoAnswer"
}
