package gate

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// The owner file is two slots of one block each, written in turn. A write
// touches only the block that does not hold the newest valid record, so a torn
// one leaves the record before it, and nobody was told of the newer. The file
// never grows or moves after it was made: a full disk cannot stop a fence from
// being raised.
//
//	0   8  magic "ANTHOWN1"
//	8   8  sequence, little endian, from 1; the higher valid slot counts
//	16  4  length of the JSON
//	20  4  CRC-32C of bytes 0-19 and the JSON
//	24  n  Owner as JSON
const (
	ownerMagic    = "ANTHOWN1"
	ownerSlotSize = 4096
	ownerHeader   = 24
)

var errOwnerDamaged = errors.New("neither slot is valid; restore or remove the file by hand")

func (g *gate) ownerPath() string { return filepath.Join(g.StateDir, "owner") }

// owner is the recorded owner, nil when nobody claimed the server. It needs no
// lock: of a write that is under way it sees the record before or after.
func (g *gate) owner() (*Owner, error) {
	o, _, err := readOwner(g.ownerPath())
	return o, err
}

// readOwner returns the newest valid record and its sequence.
func readOwner(path string) (*Owner, uint64, error) {
	b, err := readBounded(path, 2*ownerSlotSize)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("reading the owner: %w", err)
	}
	o, seq, ok := newestOwner(b)
	if !ok {
		return nil, 0, fmt.Errorf("reading the owner in %q: %w", path, errOwnerDamaged)
	}
	return o, seq, nil
}

// newestOwner picks the valid slot with the highest sequence.
func newestOwner(b []byte) (best *Owner, seq uint64, ok bool) {
	for len(b) >= ownerSlotSize {
		if o, n, valid := decodeOwner(b[:ownerSlotSize]); valid && n > seq {
			best, seq, ok = o, n, true
		}
		b = b[ownerSlotSize:]
	}
	return best, seq, ok
}

func decodeOwner(b []byte) (*Owner, uint64, bool) {
	if string(b[:8]) != ownerMagic {
		return nil, 0, false
	}
	n := binary.LittleEndian.Uint32(b[16:])
	if n > ownerSlotSize-ownerHeader {
		return nil, 0, false
	}
	body := b[ownerHeader : ownerHeader+n]
	if binary.LittleEndian.Uint32(b[20:]) != ownerSum(b, body) {
		return nil, 0, false
	}
	var o Owner
	if json.Unmarshal(body, &o) != nil {
		return nil, 0, false
	}
	return &o, binary.LittleEndian.Uint64(b[8:]), true
}

func encodeOwner(o Owner, seq uint64) ([]byte, error) {
	body, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	if len(body) > ownerSlotSize-ownerHeader {
		return nil, fmt.Errorf("record of %d bytes does not fit", len(body))
	}
	b := make([]byte, ownerSlotSize)
	copy(b, ownerMagic)
	binary.LittleEndian.PutUint64(b[8:], seq)
	binary.LittleEndian.PutUint32(b[16:], uint32(len(body)))
	copy(b[ownerHeader:], body)
	binary.LittleEndian.PutUint32(b[20:], ownerSum(b, body))
	return b, nil
}

func ownerSum(head, body []byte) uint32 {
	return crc32.Update(crc32.Checksum(head[:20], castagnoli), castagnoli, body)
}

// setOwner records o; it is durable when setOwner returns nil. The caller
// holds the lock.
func (g *gate) setOwner(o Owner) error {
	path := g.ownerPath()
	_, seq, err := readOwner(path)
	if err != nil {
		return err
	}
	slot, err := encodeOwner(o, seq+1)
	if err != nil {
		return fmt.Errorf("recording the owner: %w", err)
	}
	if seq == 0 {
		// The first record also claims the space of the second slot.
		if err := WriteDurably(path, append(slot, bytes.Repeat([]byte{0}, ownerSlotSize)...)); err != nil {
			return fmt.Errorf("recording the owner: %w", err)
		}
		return nil
	}
	// Odd sequences live in slot 0, even ones in slot 1: this one goes where
	// the newest valid record is not.
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("recording the owner: %w", err)
	}
	defer f.Close()
	if _, err := f.WriteAt(slot, int64(seq%2)*ownerSlotSize); err != nil {
		return fmt.Errorf("recording the owner: %w", err)
	}
	if err := unix.Fdatasync(int(f.Fd())); err != nil {
		return fmt.Errorf("recording the owner: %w", err)
	}
	return nil
}

// WriteDurably replaces path with b: temporary file, fsync, rename, fsync of
// the folder. After an error the old content is still there.
func WriteDurably(path string, b []byte) error {
	tmp := path + ".tmp"
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		_ = os.Remove(tmp)
		return err
	}
	return syncDir(filepath.Dir(path))
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
