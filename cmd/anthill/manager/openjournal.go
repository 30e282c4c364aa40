package manager

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/go-logr/logr"

	"github.com/gluster/anthill/cmd/anthill/cli"
	"github.com/gluster/anthill/journal"
)

// lockWait is how long one try to open the journal waits for its lock.
const lockWait = 2 * time.Second

// An opener opens the journal for appending.
type opener struct {
	path   string
	opts   journal.Options
	log    logr.Logger
	health *health
	now    func() time.Time
}

// open opens and verifies the journal. It waits, as long as ctx lasts, for
// another process to let go of it. A damaged journal is moved aside, never
// deleted, and a new one is begun: nothing was done by this process yet, what
// is true is observed and a converged pool needs nothing (R24). kept is where
// the damaged one is then.
func (o *opener) open(ctx context.Context) (j *journal.Journal, kept string, err error) {
	if err := os.MkdirAll(filepath.Dir(o.path), 0o700); err != nil {
		return nil, "", fmt.Errorf("making the folder of the journal: %w", err)
	}
	o.opts.LockWait = lockWait
	for said := ""; ; {
		if err := ctx.Err(); err != nil {
			return nil, kept, fmt.Errorf("waiting for the journal: %w", context.Cause(ctx))
		}
		j, err := journal.Open(ctx, o.path, o.opts)
		switch {
		case err == nil:
			return j, kept, nil
		case journal.IsLocked(err):
			if text := err.Error(); text != said {
				said = text
				o.log.Info("waiting for the journal", "reason", text)
				o.health.wait("waiting for the journal: " + text)
			}
		case journal.IsCorrupt(err) && kept == "":
			if kept, err = o.setAside(err); err != nil {
				return nil, "", err
			}
		case journal.IsTooNew(err):
			return nil, "", cli.Errorf(cli.Unavailable, "%w: run the release that wrote it or a newer one; nothing was changed", err)
		default:
			return nil, kept, fmt.Errorf("opening the journal: %w", err)
		}
	}
}

// setAside renames the damaged journal and makes the new name durable before a
// new journal can be begun under the old one.
func (o *opener) setAside(cause error) (string, error) {
	kept := fmt.Sprintf("%s.corrupt-%s", o.path, o.now().UTC().Format("20060102T150405.000000000Z"))
	if _, err := os.Lstat(kept); !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("%w; it cannot be kept as %q, which is there already", cause, kept)
	}
	if err := os.Rename(o.path, kept); err != nil {
		return "", fmt.Errorf("%w; keeping it aside: %w", cause, err)
	}
	dir, err := os.Open(filepath.Dir(o.path))
	if err != nil {
		return "", fmt.Errorf("keeping the damaged journal as %q: %w", kept, err)
	}
	defer func() { _ = dir.Close() }()
	if err := dir.Sync(); err != nil {
		return "", fmt.Errorf("keeping the damaged journal as %q: %w", kept, err)
	}
	o.log.Error(cause, "the journal is damaged: it is kept aside and a new one is begun, what is true is taken from the pools", "kept", kept)
	return kept, nil
}
