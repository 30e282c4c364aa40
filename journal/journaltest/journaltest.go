// Package journaltest gives tests a journal that must verify when they end.
package journaltest

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/gluster/anthill/journal"
)

// Open opens a fresh journal in t.TempDir() with an epoch of its own. When the
// test ends the journal is closed and its file must verify. A commit that fails
// with unknown outcome fails the test. opts change the options first.
func Open(t testing.TB, opts ...func(*journal.Options)) *journal.Journal {
	t.Helper()
	return OpenAt(t, filepath.Join(t.TempDir(), "journal.db"), opts...)
}

// OpenAt is Open for the file at path, which may exist. The test may close the
// journal itself; the file must verify at the end all the same.
func OpenAt(t testing.TB, path string, opts ...func(*journal.Options)) *journal.Journal {
	t.Helper()
	o := journal.Options{Fatal: func(err error) { t.Errorf("journal: %v", err) }}
	for _, opt := range opts {
		opt(&o)
	}
	j, err := journal.Open(t.Context(), path, o)
	if err != nil {
		t.Fatalf("opening the journal: %v", err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Errorf("closing the journal: %v", err)
		}
		Verify(t, path)
	})
	if _, err := j.OpenEpoch(t.Context(), journal.Opened{Instance: "test", Host: "localhost"}); err != nil {
		t.Fatalf("opening an epoch: %v", err)
	}
	return j
}

// Verify fails the test unless the file at path, which nobody holds, verifies.
func Verify(t testing.TB, path string) {
	t.Helper()
	r, err := journal.Verify(context.Background(), path)
	if err != nil {
		t.Errorf("verifying the journal: %v", err)
		return
	}
	for _, f := range r.Findings {
		t.Errorf("the journal does not verify: %v", f)
	}
}
