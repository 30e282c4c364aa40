package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"

	"github.com/google/uuid"
	bolt "go.etcd.io/bbolt"
)

// Format is the on-disk format this release writes; README.md specifies it.
const Format = 1

// A file names the lowest format number a reader and a writer must know. They
// differ from Format when a newer release changed only what older ones ignore.
const (
	readerFormat = 1 // newest minReader this release can read
	writerFormat = 1 // newest minWriter this release can write
)

const pageSize = 4096

// Buckets. Every one but ballast is written in the transaction of the event it
// follows from.
var (
	bMeta    = []byte("meta")
	bEv      = []byte("ev")     // seq -> codec, hash, bytes
	bOp      = []byte("op")     // op id -> opRow
	bOpen    = []byte("open")   // op id of operations that have not ended -> seq of op.planned
	bIntent  = []byte("intent") // intent -> intentRow
	bBlob    = []byte("blob")   // reserved by the format
	bBallast = []byte("ballast")

	buckets = [][]byte{bMeta, bEv, bOp, bOpen, bIntent, bBlob}
)

// Keys of the meta bucket. Values end in a CRC over key and value, because
// these few bytes decide how everything else is read.
var (
	kFormat    = []byte("format")    // u32
	kJournalID = []byte("journalID") // 16 bytes
	kMinReader = []byte("minReader") // u32
	kMinWriter = []byte("minWriter") // u32
	kEpoch     = []byte("epoch")     // u64, of the last epoch.opened
	kHead      = []byte("head")      // seq, hash of the last event
	kTail      = []byte("tail")      // seq of the first retained event, hash before it
)

// codecJSON: the stored bytes are the envelope as JSON.
const codecJSON byte = 1

const evHeader = 1 + sha256.Size // codec, hash

var (
	chainTag = [4]byte{'a', 'g', 'j', '1'}
	castag   = crc32.MakeTable(crc32.Castagnoli)
)

func seqKey(s Seq) []byte { return binary.BigEndian.AppendUint64(nil, uint64(s)) }

// link computes the hash of event seq from the one before it and the SHA-256
// of its stored bytes.
func link(prev Hash, seq Seq, codec byte, sum [sha256.Size]byte) Hash {
	var b [len(chainTag) + sha256.Size + 8 + 1 + sha256.Size]byte
	n := copy(b[:], chainTag[:])
	n += copy(b[n:], prev[:])
	binary.BigEndian.PutUint64(b[n:], uint64(seq))
	n += 8
	b[n] = codec
	copy(b[n+1:], sum[:])
	return sha256.Sum256(b[:])
}

// evValue lays out the value of an event.
func evValue(h Hash, stored []byte) []byte {
	v := make([]byte, 0, evHeader+len(stored))
	v = append(v, codecJSON)
	v = append(v, h[:]...)
	return append(v, stored...)
}

// splitEv takes the value of an event apart, without copying.
func splitEv(v []byte) (codec byte, h Hash, stored []byte, ok bool) {
	if len(v) < evHeader {
		return 0, h, nil, false
	}
	copy(h[:], v[1:])
	return v[0], h, v[evHeader:], true
}

// A metaState is the meta bucket, decoded.
type metaState struct {
	format, minReader, minWriter uint32
	id                           uuid.UUID
	epoch                        Epoch
	head                         Head
	tail                         Head // Hash is the one before Seq
}

func metaSum(key, val []byte) uint32 {
	return crc32.Update(crc32.Checksum(key, castag), castag, val)
}

func putMeta(b *bolt.Bucket, key, val []byte) error {
	v := append(make([]byte, 0, len(val)+4), val...)
	return b.Put(key, binary.BigEndian.AppendUint32(v, metaSum(key, val)))
}

func headBytes(h Head) []byte {
	return append(binary.BigEndian.AppendUint64(make([]byte, 0, 40), uint64(h.Seq)), h.Hash[:]...)
}

func parseHead(b []byte) (h Head) {
	h.Seq = Seq(binary.BigEndian.Uint64(b))
	copy(h.Hash[:], b[8:])
	return h
}

// write puts the whole meta bucket.
func (m *metaState) write(b *bolt.Bucket) error {
	u32 := func(v uint32) []byte { return binary.BigEndian.AppendUint32(nil, v) }
	for _, kv := range []struct{ k, v []byte }{
		{kFormat, u32(m.format)}, {kMinReader, u32(m.minReader)}, {kMinWriter, u32(m.minWriter)},
		{kJournalID, m.id[:]}, {kEpoch, seqKey(Seq(m.epoch))}, {kHead, headBytes(m.head)}, {kTail, headBytes(m.tail)},
	} {
		if err := putMeta(b, kv.k, kv.v); err != nil {
			return fmt.Errorf("writing meta %q: %w", kv.k, err)
		}
	}
	return nil
}

// readMeta decodes the meta bucket. It refuses formats of the future before it
// looks at anything whose meaning may have changed.
func readMeta(tx *bolt.Tx, write bool) (m metaState, err error) {
	b := tx.Bucket(bMeta)
	if b == nil {
		return m, &CorruptError{Key: "meta", What: "the bucket is missing"}
	}
	get := func(key []byte, size int) []byte {
		if err != nil {
			return make([]byte, size)
		}
		v := b.Get(key)
		if len(v) != size+4 || binary.BigEndian.Uint32(v[size:]) != metaSum(key, v[:size]) {
			err = &CorruptError{Key: "meta/" + string(key), What: "the value is missing or does not match its checksum"}
			return make([]byte, size)
		}
		return v[:size]
	}
	u32 := func(key []byte) uint32 { return binary.BigEndian.Uint32(get(key, 4)) }
	m.format, m.minReader, m.minWriter = u32(kFormat), u32(kMinReader), u32(kMinWriter)
	if err != nil {
		return m, err
	}
	if m.minReader > readerFormat {
		return m, fmt.Errorf("%w: it needs a reader of format %d, this is %d", ErrTooNew, m.minReader, readerFormat)
	}
	if write && m.minWriter > writerFormat {
		return m, fmt.Errorf("%w: it needs a writer of format %d, this is %d; it can still be read", ErrTooNew, m.minWriter, writerFormat)
	}
	copy(m.id[:], get(kJournalID, 16))
	m.epoch = Epoch(binary.BigEndian.Uint64(get(kEpoch, 8)))
	m.head = parseHead(get(kHead, 40))
	m.tail = parseHead(get(kTail, 40))
	if err == nil && (m.tail.Seq == 0 || m.head.Seq < m.tail.Seq) {
		err = &CorruptError{Key: "meta/tail", What: fmt.Sprintf("tail %d and head %d contradict each other", m.tail.Seq, m.head.Seq)}
	}
	if err != nil {
		return m, err
	}
	for _, name := range buckets {
		if tx.Bucket(name) == nil {
			return m, &CorruptError{Key: string(name), What: "the bucket is missing"}
		}
	}
	return m, nil
}

// An intentRow is the value of the intent bucket: the open operation that has
// the intent, or the tombstone an abandoned one left.
type intentRow struct {
	Op         OpID   `json:"op"`
	Dead       bool   `json:"dead,omitempty"`
	Generation int64  `json:"generation,omitempty"`
	Reason     string `json:"reason,omitempty"`
}

// encodeRow and decodeRow are the codec of the projections.
func encodeRow(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encoding a projection: %w", err)
	}
	return b, nil
}

func decodeRow(bucket string, key, b []byte, v any) error {
	if err := json.Unmarshal(b, v); err != nil {
		return &CorruptError{Key: fmt.Sprintf("%s/%x", bucket, key), What: "the row does not decode: " + err.Error()}
	}
	return nil
}
