package journalctl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gluster/anthill/cmd/anthill/cli"
	"github.com/gluster/anthill/journal"
)

func TestBounded(t *testing.T) {
	cases := map[string]struct {
		reason string
		fn     func(context.Context) error
		code   cli.Code
		err    string
	}{
		"Done":   {reason: "What works works.", fn: func(context.Context) error { return nil }},
		"Failed": {reason: "An error is classified.", fn: func(context.Context) error { return fmt.Errorf("x: %w", journal.ErrConflict) }, code: cli.Conflict, err: "x"},
		"Panic":  {reason: "A bug is an error, not a stack on the terminal.", fn: func(context.Context) error { panic("oops") }, code: cli.Failed, err: "internal error: oops"},
		"Fault": {
			reason: "A file that shrinks while it is mapped is damage, not a crash.",
			fn: func(context.Context) error {
				f, err := os.CreateTemp(t.TempDir(), "")
				if err != nil {
					return err
				}
				defer f.Close()
				if err := f.Truncate(8192); err != nil {
					return err
				}
				m, err := unix.Mmap(int(f.Fd()), 0, 8192, unix.PROT_READ, unix.MAP_SHARED)
				if err != nil {
					return err
				}
				defer unix.Munmap(m)
				if err := f.Truncate(0); err != nil {
					return err
				}
				return fmt.Errorf("read %d from nothing", m[5000])
			},
			code: cli.Damaged, err: "while it was being read",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := bounded(t.Context(), time.Minute, tc.fn)
			if cli.CodeOf(err) != tc.code || (err != nil && !strings.Contains(err.Error(), tc.err)) {
				t.Errorf("%s: got exit %d, %v", tc.reason, cli.CodeOf(err), err)
			}
		})
	}
}

func TestBoundedGivesUp(t *testing.T) {
	release := make(chan struct{})
	ended := make(chan struct{})
	deaf := func(context.Context) error {
		defer close(ended)
		<-release
		return nil
	}
	if err := bounded(t.Context(), time.Millisecond, deaf); cli.CodeOf(err) != cli.Timeout || !strings.Contains(err.Error(), "--timeout") {
		t.Errorf("what does not listen is left behind: got exit %d, %v", cli.CodeOf(err), err)
	}
	close(release)
	<-ended

	ctx, cancel := context.WithCancel(t.Context())
	polite := func(ctx context.Context) error {
		cancel()
		<-ctx.Done()
		return fmt.Errorf("reading: %w", ctx.Err())
	}
	if err := bounded(ctx, time.Minute, polite); cli.CodeOf(err) != cli.Interrupted {
		t.Errorf("an interrupt: got exit %d, %v", cli.CodeOf(err), err)
	}
}

func TestClassify(t *testing.T) {
	cases := map[string]struct {
		err  error
		want cli.Code
	}{
		"Corrupt":     {err: &journal.CorruptError{What: "x"}, want: cli.Damaged},
		"Locked":      {err: &journal.LockedError{Path: "x"}, want: cli.Unavailable},
		"Unavailable": {err: journal.ErrUnavailable, want: cli.Unavailable},
		"Missing":     {err: fs.ErrNotExist, want: cli.Unavailable},
		"Forbidden":   {err: fs.ErrPermission, want: cli.Unavailable},
		"NotFound":    {err: journal.ErrNotFound, want: cli.NotFound},
		"Conflict":    {err: journal.ErrConflict, want: cli.Conflict},
		"Usage":       {err: journal.ErrUsage, want: cli.Usage},
		"TooNew":      {err: journal.ErrTooNew, want: cli.Failed},
		"Refused":     {err: journal.ErrRefused, want: cli.Failed},
		"Full":        {err: journal.ErrFull, want: cli.Failed},
		"Coded":       {err: cli.Errorf(cli.NeedsDecision, "x: %w", journal.ErrConflict), want: cli.NeedsDecision},
		"Other":       {err: errors.New("x"), want: cli.Failed},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := cli.CodeOf(classify(tc.err)); got != tc.want {
				t.Errorf("got exit %d, want %d", got, tc.want)
			}
		})
	}
}
