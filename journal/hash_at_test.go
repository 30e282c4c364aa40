package journal_test

import (
	"errors"
	"testing"

	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/journaltest"
)

func TestHashAt(t *testing.T) {
	j := journaltest.Open(t)
	head := j.Head()
	got, err := j.HashAt(head.Seq)
	if err != nil || got != head.Hash {
		t.Errorf("HashAt(head) = %v, %v; want the head's hash %v", got, err, head.Hash)
	}
	if before, err := j.HashAt(head.Seq - 1); err != nil || before == head.Hash {
		t.Errorf("HashAt(head-1) = %v, %v; want another hash", before, err)
	}
	for _, seq := range []journal.Seq{0, head.Seq + 1} {
		if _, err := j.HashAt(seq); !errors.Is(err, journal.ErrNotFound) {
			t.Errorf("HashAt(%d): %v; want ErrNotFound", seq, err)
		}
	}
}
