package journal

import (
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// HashAt returns the chain's hash up to and including event seq, so that a
// place in the journal that was noted elsewhere can be compared with it.
// ErrNotFound: seq is not between tail and head.
func (j *Journal) HashAt(seq Seq) (h Hash, err error) {
	err = j.view(func(tx *bolt.Tx) error {
		v := tx.Bucket(bEv).Get(seqKey(seq))
		if v == nil {
			return ErrNotFound
		}
		var ok bool
		if _, h, _, ok = splitEv(v); !ok {
			return &CorruptError{Path: j.path, Seq: seq, What: "the record is too short"}
		}
		return nil
	})
	if err != nil {
		return Hash{}, fmt.Errorf("reading the hash of event %d: %w", seq, err)
	}
	return h, nil
}
