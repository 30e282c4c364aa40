package filelock

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"
)

func TestLockIsOne(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lock")
	l, err := Take(t.Context(), file)
	must(t, err)
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Take(short, file); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a held lock: %v, want to wait in vain", err)
	}
	// A waiter on the removed file must not take it for the lock.
	l.Remove()
	second, err := Take(t.Context(), file)
	must(t, err)
	defer second.Release()
	if got, err := Try(file); got != nil || err != nil {
		t.Errorf("a lock taken after the file was removed: %v, %v; want it held", got, err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
