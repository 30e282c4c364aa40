package gluster

import (
	"context"
	"errors"
	"strings"
	"time"
)

// Deadlines of one call, enforced where the command runs. The CLI itself gives
// up after 120 seconds (600 for heal info).
const (
	ReadDeadline   = 30 * time.Second
	HealDeadline   = 90 * time.Second
	MutateDeadline = 150 * time.Second
)

// A Client speaks to the glusterd of one server. Reads answer for that server:
// others may see the pool differently. All errors are *Error. It keeps no state
// and is safe for concurrent use; glusterd itself serves one transaction per
// volume at a time, callers send one per pool (F7).
type Client struct {
	runner   Runner
	deadline struct{ read, heal, mutate time.Duration }
}

// An Option changes a Client.
type Option func(*Client)

// WithDeadlines replaces ReadDeadline, HealDeadline and MutateDeadline; zero
// keeps the default.
func WithDeadlines(read, heal, mutate time.Duration) Option {
	return func(c *Client) {
		for _, d := range []struct {
			at *time.Duration
			to time.Duration
		}{{&c.deadline.read, read}, {&c.deadline.heal, heal}, {&c.deadline.mutate, mutate}} {
			if d.to > 0 {
				*d.at = d.to
			}
		}
	}
}

// NewClient makes a client of the server that r runs commands on.
func NewClient(r Runner, opts ...Option) *Client {
	c := &Client{runner: r}
	WithDeadlines(ReadDeadline, HealDeadline, MutateDeadline)(c)
	for _, o := range opts {
		o(c)
	}
	return c
}

// read runs a command that changes nothing.
func (c *Client) read(ctx context.Context, argv []string) (*document, error) {
	return c.do(ctx, Command{Argv: argv, Deadline: c.deadline.read})
}

func (c *Client) do(ctx context.Context, cmd Command) (*document, error) {
	out, err := c.runner.Run(ctx, cmd)
	if err != nil {
		return nil, sendError(cmd, err)
	}
	return parse(cmd, out)
}

// Mutate runs a mutating command that was made by one of the Argv functions,
// under an attempt that names its receipt. A nil error is a clean answer and no
// proof. An error with IsUnknown may have been, or may yet be, applied.
func (c *Client) Mutate(ctx context.Context, attempt string, argv []string) (Reply, error) {
	d, err := c.do(ctx, Command{Argv: argv, Mutates: true, Attempt: attempt, Deadline: c.deadline.mutate})
	var e *Error
	if d != nil && errors.As(err, &e) && e.Verdict == Done { // opRet 0: nothing was to be done
		r := d.reply()
		r.Already, r.Reason = true, e.Reason
		return r, nil
	}
	if err != nil {
		return Reply{}, err
	}
	return d.reply(), nil
}

// Version returns the first line of gluster --version without the name:
// "10.3". It needs no daemon.
func (c *Client) Version(ctx context.Context) (string, error) {
	cmd := Command{Argv: ArgvVersion(), Deadline: c.deadline.read}
	out, err := c.runner.Run(ctx, cmd)
	if err != nil {
		return "", sendError(cmd, err)
	}
	line, _, _ := strings.Cut(string(out.Stdout), "\n")
	v, ok := strings.CutPrefix(line, "glusterfs ")
	if out.Exit != 0 || !ok {
		return "", incomplete(cmd.Argv, "no version in %.80q", line)
	}
	return strings.TrimSpace(v), nil
}
