package journal

import (
	"encoding/binary"
	"testing"

	"github.com/google/uuid"
)

// testID is a version 7 UUID whose order is n's.
func testID(n int) OpID {
	var id OpID
	binary.BigEndian.PutUint32(id[:], uint32(n))
	id[6], id[8] = 0x70, 0x80
	return uuid.UUID(id)
}

func mustEvent(t testing.TB, typ Type, id OpID, data any) Event {
	t.Helper()
	ev, err := New(typ, id, data)
	if err != nil {
		t.Fatal(err)
	}
	return ev
}
