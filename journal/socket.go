package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// sunPathMax is what a socket's address may hold. A longer path is reached
// through a descriptor of its directory.
const sunPathMax = 100

// shortPath returns a path of bounded length for the same socket, valid until
// done is called.
func shortPath(path string) (short string, done func(), err error) {
	if len(path) <= sunPathMax {
		return path, func() {}, nil
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return "", nil, fmt.Errorf("opening the socket's directory: %w", err)
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(path)), func() { _ = dir.Close() }, nil
}

// listen makes the socket at path, for its owner only. What is left of an
// earlier process is removed; anything but a socket is not.
func listen(ctx context.Context, path string) (net.Listener, error) {
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("looking at socket %q: %w", path, err)
	case info.Mode().Type() != fs.ModeSocket:
		return nil, fmt.Errorf("socket %q: something else is there: %w", path, fs.ErrExist)
	default:
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("removing stale socket: %w", err)
		}
	}
	short, done, err := shortPath(path)
	if err != nil {
		return nil, err
	}
	defer done()
	lc := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		// Before bind the mode of the descriptor is that of the file to be.
		var cerr error
		err := c.Control(func(fd uintptr) { cerr = unix.Fchmod(int(fd), 0o600) })
		return errors.Join(err, cerr)
	}}
	ln, err := lc.Listen(ctx, "unix", short)
	if err != nil {
		return nil, fmt.Errorf("listening on %q: %w", path, err)
	}
	if u, ok := ln.(*net.UnixListener); ok {
		u.SetUnlinkOnClose(false) // the short path may be gone by then
	}
	return ln, nil
}

// dial connects to the socket at path.
func dial(ctx context.Context, path string) (net.Conn, error) {
	short, done, err := shortPath(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	defer done()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", short)
	if err != nil {
		return nil, fmt.Errorf("connecting to %q: %w: %w", path, ErrUnavailable, err)
	}
	return conn, nil
}
