package manager

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"

	"github.com/gluster/anthill/journal"
)

func newOpener(t *testing.T) *opener {
	t.Helper()
	return &opener{path: filepath.Join(t.TempDir(), "sub", "journal.db"), log: logr.Discard(), health: newHealth(),
		now: func() time.Time { return time.Unix(1_700_000_000, 5) }}
}

func mustOpen(t *testing.T, o *opener) (*journal.Journal, string) {
	t.Helper()
	j, kept, err := o.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j, kept
}

func TestOpenMakesTheJournal(t *testing.T) {
	o := newOpener(t)
	j, kept := mustOpen(t, o)
	if kept != "" {
		t.Errorf("nothing was damaged, yet %q is kept", kept)
	}
	if st, err := os.Stat(filepath.Dir(o.path)); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("the folder is only the operator's: %v, %v", st.Mode(), err)
	}
	if j.ID() == "" {
		t.Error("the journal has no id")
	}
}

// A damaged journal is noticed before anything is done, and kept.
func TestDamagedJournalIsKeptAside(t *testing.T) {
	damage := map[string]func(b []byte) []byte{
		"Truncated": func(b []byte) []byte { return b[:9000] },
		"Zeroed":    func(b []byte) []byte { return make([]byte, len(b)) },
		"Garbage":   func(b []byte) []byte { return bytes.Repeat([]byte("not a journal. "), 1000) },
		"Flipped": func(b []byte) []byte {
			// Every copy: old ones are in free pages, where nobody looks.
			if !bytes.Contains(b, []byte(`"epoch.opened"`)) {
				return nil
			}
			return bytes.ReplaceAll(b, []byte(`"epoch.opened"`), []byte(`"epoch.opend?"`))
		},
	}
	for name, f := range damage {
		t.Run(name, func(t *testing.T) {
			o := newOpener(t)
			j, _, err := o.open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			old := j.ID()
			if _, err := j.OpenEpoch(t.Context(), journal.Opened{Instance: "ns/op"}); err != nil {
				t.Fatal(err)
			}
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(o.path)
			if err != nil {
				t.Fatal(err)
			}
			if b = f(b); b == nil {
				t.Fatal("the journal holds nothing to damage")
			}
			if err := os.WriteFile(o.path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			j, kept := mustOpen(t, o)
			if j.ID() == old {
				t.Error("a damaged journal was used")
			}
			if !strings.HasPrefix(kept, o.path+".corrupt-20231114T221320") {
				t.Errorf("kept as %q", kept)
			}
			if got, err := os.ReadFile(kept); err != nil || !bytes.Equal(got, b) {
				t.Errorf("what is kept is not what was there: %d bytes, %v", len(got), err)
			}
		})
	}
}

func TestDamagedJournalIsNeverOverwritten(t *testing.T) {
	o := newOpener(t)
	if err := os.MkdirAll(filepath.Dir(o.path), 0o700); err != nil {
		t.Fatal(err)
	}
	kept := o.path + ".corrupt-" + o.now().UTC().Format("20060102T150405.000000000Z")
	for path, text := range map[string]string{o.path: strings.Repeat("garbage ", 4096), kept: "an earlier one"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	j, _, err := o.open(t.Context())
	if err == nil {
		_ = j.Close()
		t.Fatal("an earlier damaged journal would have been replaced")
	}
	if b, _ := os.ReadFile(kept); string(b) != "an earlier one" {
		t.Errorf("the earlier one is now %q", b)
	}
}

func TestLockedJournalIsWaitedFor(t *testing.T) {
	o := newOpener(t)
	first, _, err := o.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	second := *o
	second.health = newHealth()
	done := make(chan error, 1)
	go func() {
		j, _, err := second.open(ctx)
		if err == nil {
			err = j.Close()
		}
		done <- err
	}()
	deadline := time.Now().Add(20 * time.Second)
	for !strings.Contains(second.health.ready(), "waiting for the journal") {
		if time.Now().After(deadline) {
			t.Fatalf("readiness does not say what it waits for: %q", second.health.ready())
		}
		time.Sleep(5 * time.Millisecond)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("the second one gets it when the first one lets go: %v", err)
	}
	cancel()
}

func TestWaitingForTheJournalEndsWithTheContext(t *testing.T) {
	o := newOpener(t)
	mustOpen(t, o)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	second := *o
	if _, _, err := second.open(ctx); err == nil {
		t.Error("a journal that is in use was opened")
	}
}
