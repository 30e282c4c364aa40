package journalctl

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/gluster/anthill/cmd/anthill/cli"
	"github.com/gluster/anthill/journal"
)

const (
	timeoutDefault = 30 * time.Second
	// grace is what a command may take to notice that its time is up. What
	// cannot notice, such as a read from a dead disk, is left behind.
	grace = time.Second
)

// read runs fn on the opened journal within the deadline.
func (b *base) read(cmd *cobra.Command, o *cli.Output, fn func(context.Context, *opened, *printer) error) error {
	if err := b.source.validate(); err != nil {
		return err
	}
	return bounded(cmd.Context(), time.Duration(b.source.timeout), func(ctx context.Context) error {
		r, err := b.source.open(ctx, b.Getenv)
		if err != nil {
			return err
		}
		defer r.Close()
		p := b.printer(cmd, o)
		r.note(p.err)
		return buffered(p, func() error { return fn(ctx, r, p) })
	})
}

// buffered runs fn with a buffer in front of the output. What was printed
// before an error is still printed.
func buffered(p *printer, fn func() error) error {
	w := bufio.NewWriterSize(p.out, 64<<10)
	direct := p.out
	p.out = w
	err := fn()
	p.out = direct
	if ferr := w.Flush(); err == nil && ferr != nil {
		err = fmt.Errorf("writing output: %w", ferr)
	}
	return err
}

// bounded runs fn and returns its error, classified, or gives up on it when
// the time, or ctx, is over.
func bounded(ctx context.Context, limit time.Duration, fn func(context.Context) error) error {
	over := cli.Errorf(cli.Timeout, "not finished within %s: a longer --timeout is accepted", limit)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, over)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- guarded(ctx, fn) }()
	select {
	case err := <-done:
		return ended(ctx, err)
	case <-ctx.Done():
	}
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case err := <-done:
		return ended(ctx, err)
	case <-late.C:
		return context.Cause(ctx)
	}
}

// ended prefers why ctx ended to what that looked like further down.
func ended(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return classify(err)
}

// guarded turns a panic into an error. A memory fault means that the mapped
// file shrank, or its disk failed, under the reader.
func guarded(ctx context.Context, fn func(context.Context) error) (err error) {
	defer func(old bool) { debug.SetPanicOnFault(old) }(debug.SetPanicOnFault(true))
	defer func() {
		switch p := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }:
			err = cli.Errorf(cli.Damaged, "the journal's file changed or could not be read while it was being read")
		default:
			err = fmt.Errorf("internal error: %v at %s", p, debug.Stack())
		}
	}()
	return fn(ctx)
}

// classify gives an error of the journal its exit code.
func classify(err error) error {
	var coded *cli.Error
	switch {
	case err == nil, errors.As(err, &coded):
		return err
	case journal.IsCorrupt(err):
		return &cli.Error{Code: cli.Damaged, Err: err}
	case journal.IsLocked(err), errors.Is(err, journal.ErrUnavailable), errors.Is(err, journal.ErrClosed),
		errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, io.ErrUnexpectedEOF):
		return &cli.Error{Code: cli.Unavailable, Err: err}
	case errors.Is(err, journal.ErrNotFound):
		return &cli.Error{Code: cli.NotFound, Err: err}
	case journal.IsConflict(err):
		return &cli.Error{Code: cli.Conflict, Err: err}
	case errors.Is(err, journal.ErrUsage):
		return &cli.Error{Code: cli.Usage, Err: err}
	}
	return err
}
