package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gluster/anthill/executor/gate"
)

// The logs of gluster lie on the volume that holds glusterd's state, which must
// never be full. One file is kept beside each.
const (
	logBytesMax = 4 << 20
	rotateEvery = time.Minute
)

// rotateLogs keeps the logs small until ctx ends.
func (n *node) rotateLogs(ctx context.Context) {
	dir := gate.LogDir(n.o.Gate)
	for pause(ctx, rotateEvery) {
		if err := n.rotate(ctx, dir); err != nil && ctx.Err() == nil {
			n.o.Log.Error(err, "logs grow")
		}
	}
}

// rotate copies every log that has become large and cuts it: all daemons of
// gluster append to their logs, so they go on at the new end.
func (n *node) rotate(ctx context.Context, dir string) error {
	var errs []error
	for _, sub := range []string{"", "bricks"} {
		files, err := filepath.Glob(filepath.Join(dir, sub, "*.log"))
		if err != nil {
			return fmt.Errorf("listing logs: %w", err)
		}
		for _, f := range files {
			if fi, err := os.Lstat(f); err == nil && fi.Mode().IsRegular() && fi.Size() > logBytesMax {
				errs = append(errs, n.cut(ctx, f))
			}
		}
	}
	return errors.Join(errs...)
}

// cut copies a log and empties it. The history of commands is how the operator
// finds out about one that it lost sight of: it stays while one runs.
func (n *node) cut(ctx context.Context, path string) error {
	if strings.HasPrefix(filepath.Base(path), "cmd_history") {
		release, err := gate.Hold(ctx, n.o.Gate, 0)
		if err != nil {
			return err
		}
		defer release()
	}
	in, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("rotating %q: %w", path, err)
	}
	defer in.Close()
	// On a disk that is full there is no copy; the log is cut all the same.
	copied := copyTo(path+".1", in)
	if err := in.Truncate(0); err != nil {
		return fmt.Errorf("rotating %q: %w", path, err)
	}
	if copied != nil {
		return fmt.Errorf("rotating %q: it was cut without a copy: %w", path, copied)
	}
	return nil
}

func copyTo(path string, in io.Reader) error {
	out, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, io.LimitReader(in, 16*logBytesMax))
	if err = errors.Join(err, out.Close()); err != nil {
		_ = os.Remove(path)
	}
	return err
}
