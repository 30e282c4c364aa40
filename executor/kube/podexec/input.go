package podexec

import (
	"bytes"
	"io"
	"sync"

	"github.com/gluster/anthill/executor/gate"
)

// An input is what a command reads. It is held back until the command is known
// to run, and never leaves once the caller has gone.
type input struct {
	ready chan struct{} // closed when it may leave
	gone  chan struct{} // closed when nobody waits any more

	mu        sync.Mutex
	rest      []byte
	abandoned bool
	begun     bool // the last byte was handed out: it may have left
	sent      bool // and what was handed out was taken
	open      sync.Once
}

func newInput(b []byte, hold bool) *input {
	in := &input{ready: make(chan struct{}), gone: make(chan struct{}), rest: b}
	if !hold {
		in.release()
	}
	return in
}

// release lets the input leave.
func (in *input) release() { in.open.Do(func() { close(in.ready) }) }

// Read implements io.Reader; the copier calls it again only after it has
// written what it got.
func (in *input) Read(p []byte) (int, error) {
	select {
	case <-in.ready:
	case <-in.gone:
		return 0, io.EOF
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.abandoned {
		return 0, io.EOF // what did leave is cut, and neither gate nor installer act on that
	}
	n := copy(p, in.rest)
	in.rest = in.rest[n:]
	if len(in.rest) > 0 {
		return n, nil
	}
	in.sent = in.begun && n == 0
	in.begun = true
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// abandon says how far it came: begun is false if not all of it can have left,
// and then it never will.
func (in *input) abandon() (begun, sent bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.abandoned {
		in.abandoned = true
		close(in.gone)
	}
	return in.begun, in.sent
}

// An output collects what a command writes, bounded. It may still be written to
// after the streams are given up.
type output struct {
	mu     sync.Mutex
	w      gate.Window
	mark   []byte // nil: none is waited for
	marked func()
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, err := o.w.Write(p)
	if o.mark != nil && bytes.Contains(o.w.Bytes, o.mark) {
		o.mark = nil
		o.marked()
	}
	return n, err
}

func (o *output) bytes() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	return bytes.Clone(o.w.Bytes)
}
