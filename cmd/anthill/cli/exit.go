package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// A Code is an exit status of anthill. Scripts rely on the numbers.
type Code int

// The exit codes.
const (
	OK            Code = 0
	Failed        Code = 1   // it did not work
	Usage         Code = 2   // the command line makes no sense as given
	NotFound      Code = 3   // no such operation, step or event
	Conflict      Code = 4   // the world changed since you looked (--if-version)
	Unavailable   Code = 5   // nobody serves the journal, or another process holds it
	Damaged       Code = 6   // the journal is not intact
	Timeout       Code = 8   // --timeout passed
	NeedsDecision Code = 9   // an unknown outcome has to be settled by a person first
	Interrupted   Code = 130 // a signal ended it
)

// An Error is an error with the exit code it leads to.
type Error struct {
	Code Code
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the error inside.
func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an Error; format may wrap with %w.
func Errorf(c Code, format string, args ...any) error {
	return &Error{Code: c, Err: fmt.Errorf(format, args...)}
}

// Usagef makes an error of the command line. The text says what was wrong and
// what is accepted, in one line.
func Usagef(format string, args ...any) error { return Errorf(Usage, format, args...) }

// CodeOf tells the exit code an error leads to: that of the outermost Error in
// its chain, else the one of a context's end, else Failed.
func CodeOf(err error) Code {
	var e *Error
	switch {
	case err == nil:
		return OK
	case errors.As(err, &e):
		return e.Code
	case errors.Is(err, context.Canceled):
		return Interrupted
	case errors.Is(err, context.DeadlineExceeded):
		return Timeout
	}
	return Failed
}

// Report writes err as one line to w and returns its exit code. An interrupted
// command is silent: whoever interrupted it knows.
func Report(w io.Writer, err error) Code {
	code := CodeOf(err)
	if err != nil && code != Interrupted {
		// Nothing can be done about a closed standard error.
		_, _ = fmt.Fprintf(w, "anthill: %s\n", Line(err.Error()))
	}
	return code
}
