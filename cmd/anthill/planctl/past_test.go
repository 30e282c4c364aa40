package planctl

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/journaltest"
)

func TestPastComesFromTheJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j := journaltest.OpenAt(t, path)
	if j.Epoch() == 0 {
		t.Cleanup(func() { _ = j.Close() })
		if _, err := j.OpenEpoch(t.Context(), journal.Opened{Instance: "ns/op"}); err != nil {
			t.Fatal(err)
		}
	}
	var ids []journal.OpID
	for i := range 3 {
		id, err := uuid.NewV7()
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
		name := string(rune('a' + i))
		ev, err := journal.New(journal.OpPlanned, id, journal.Plan{Kind: "join-node", Scope: "pool", Object: "GlusterNode/ns/" + name, Target: "node/" + name, Intent: name,
			Steps: []journal.Step{{ID: "do", Name: "do@1", Stage: journal.Waiting}}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := j.Append(t.Context(), journal.Guard{}, ev); err != nil {
			t.Fatal(err)
		}
	}
	ev, err := journal.New(journal.OpAbandoned, ids[1], journal.Decision{Reason: "r"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.Append(t.Context(), journal.Guard{}, ev); err != nil {
		t.Fatal(err)
	}
	p, err := readPast(t.Context(), j.Reader())
	if err != nil {
		t.Fatal(err)
	}
	if len(p.picture.Open) != 2 || p.picture.Open[0].ID != ids[0] || p.picture.Open[1].ID != ids[2] {
		t.Errorf("open operations come oldest first: %v", p.picture.Open)
	}
	if len(p.picture.Recent) != 1 || p.picture.Recent[0].ID != ids[1] {
		t.Errorf("the ended one: %v", p.picture.Recent)
	}
	if _, ok := p.picture.Tombstones["b"]; !ok {
		t.Errorf("abandoned intents are not planned again: %v", p.picture.Tombstones)
	}
	if op, err := p.Op(ids[2]); err != nil || op.ID != ids[2] {
		t.Errorf("got %v, %v", op, err)
	}

	// While the operator holds the file and does not answer, nothing is guessed.
	var notes bytes.Buffer
	o := &options{journal: path}
	if _, err := o.history(t.Context(), func(string) string { return "" }, &notes); !journal.IsLocked(err) {
		t.Errorf("got %v, want ErrLocked", err)
	}
}

func TestNoJournalIsSaid(t *testing.T) {
	var notes bytes.Buffer
	dir := t.TempDir()
	p, err := (&options{}).history(t.Context(), func(string) string { return filepath.Join(dir, "journal.db") }, &notes)
	if err != nil || len(p.picture.Open) != 0 {
		t.Fatalf("got %v, %v", p, err)
	}
	if !strings.Contains(notes.String(), "operations under way are not considered") {
		t.Errorf("notes %q", notes.String())
	}
}
