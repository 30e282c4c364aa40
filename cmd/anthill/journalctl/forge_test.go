package journalctl

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/gluster/anthill/journal"
)

// forge makes the closed journal at path one that a newer release wrote: the
// last op.resumed becomes a critical event of type alien. Appending refuses
// what it does not know, so the file is changed as its format says
// (journal/README.md), chain and projection included; it verifies.
func forge(t testing.TB, path string, alien journal.Type) {
	t.Helper()
	// As the store opens it: it keeps no list of free pages.
	db, err := bolt.Open(path, 0o600, &bolt.Options{NoFreelistSync: true, PageSize: 4096})
	if err != nil {
		t.Fatalf("opening journal: %v", err)
	}
	if err := db.Update(func(tx *bolt.Tx) error { return forgeTx(tx, alien) }); err != nil {
		t.Fatalf("forging journal: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatalf("closing journal: %v", err)
	}
	rep, err := journal.Verify(t.Context(), path)
	if err != nil || !rep.OK() {
		t.Fatalf("the forged journal does not verify: %v %v", err, rep.Findings)
	}
}

func forgeTx(tx *bolt.Tx, alien journal.Type) error {
	var keys, values [][]byte
	err := tx.Bucket([]byte("ev")).ForEach(func(k, v []byte) error {
		keys, values = append(keys, bytes.Clone(k)), append(values, bytes.Clone(v))
		return nil
	})
	if err != nil {
		return err
	}
	was, is := []byte(`"t":"op.resumed"`), []byte(`"t":"`+string(alien)+`"`)
	var prev [32]byte
	for i, v := range values {
		codec, stored := v[0], v[33:]
		if bytes.Contains(stored, was) {
			if err := forgeRow(tx, stored, alien); err != nil {
				return err
			}
			stored = bytes.Replace(stored, was, is, 1)
		}
		sum := sha256.Sum256(stored)
		link := append(append([]byte("agj1"), prev[:]...), keys[i]...)
		prev = sha256.Sum256(append(append(link, codec), sum[:]...))
		if err := tx.Bucket([]byte("ev")).Put(keys[i], append(append([]byte{codec}, prev[:]...), stored...)); err != nil {
			return err
		}
	}
	head := append(bytes.Clone(keys[len(keys)-1]), prev[:]...)
	crc := crc32.Checksum(append([]byte("head"), head...), crc32.MakeTable(crc32.Castagnoli))
	return tx.Bucket([]byte("meta")).Put([]byte("head"), binary.BigEndian.AppendUint32(head, crc))
}

// forgeRow makes the summary of the event's operation what a release that does
// not know the event makes of it.
func forgeRow(tx *bolt.Tx, stored []byte, alien journal.Type) error {
	var ev journal.Event
	if err := json.Unmarshal(stored, &ev); err != nil {
		return err
	}
	ops := tx.Bucket([]byte("op"))
	// The row as journal/README.md has it.
	var row struct {
		State   string      `json:"st"`
		Ver     uint64      `json:"v"`
		First   journal.Seq `json:"f"`
		Last    journal.Seq `json:"l"`
		Started int64       `json:"s,omitempty"`
		Updated int64       `json:"u"`
		Ended   int64       `json:"e,omitempty"`
		Done    int         `json:"d,omitempty"`
		StepIs  string      `json:"si,omitempty"`
		Attempt int         `json:"n,omitempty"`
		Cause   string      `json:"c,omitempty"`
		Warning string      `json:"w,omitempty"`
		Alien   string      `json:"a,omitempty"`
	}
	if err := json.Unmarshal(ops.Get(ev.Op[:]), &row); err != nil {
		return err
	}
	row.State, row.Cause, row.Alien = "suspended", "Newer", string(alien)
	b, err := json.Marshal(&row)
	if err != nil {
		return err
	}
	return ops.Put(ev.Op[:], b)
}
