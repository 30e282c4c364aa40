package journal

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

const (
	evFill    = 0.95    // events are only ever appended
	allocSize = 4 << 20 // the file grows by this much at a time
	// ballastSize is kept aside for the events that end things on a full disk.
	ballastSize = 1 << 20
)

var kBallast = []byte("ballast")

func sum256(b []byte) [sha256.Size]byte { return sha256.Sum256(b) }

// openBolt gives f, which is locked and (unless new) checked, to bbolt. Closing
// the result closes f; an error has closed it.
func openBolt(f *os.File, readOnly bool, maxSize int64) (db *bolt.DB, err error) {
	err = contain(func() error {
		var err error
		db, err = bolt.Open(f.Name(), 0o600, &bolt.Options{
			OpenFile:        func(string, int, os.FileMode) (*os.File, error) { return f, nil },
			ReadOnly:        readOnly,
			PageSize:        pageSize,
			FreelistType:    bolt.FreelistMapType,
			NoFreelistSync:  true,
			InitialMmapSize: int(maxSize), // never remapped, so a reader never blocks the writer
			MaxSize:         int(maxSize),
		})
		return err
	})
	if err != nil {
		_ = f.Close() // bbolt mostly has
		return nil, fmt.Errorf("opening %q: %w", f.Name(), err)
	}
	db.AllocSize = allocSize
	return db, nil
}

// isFull reports whether a transaction failed, cleanly, for want of space. A
// failed sync is never clean, whatever its error: only failed writes count.
func isFull(err error) bool {
	if errors.Is(err, berrors.ErrMaxSizeReached) {
		return true
	}
	var pe *fs.PathError
	return errors.As(err, &pe) && pe.Op == "write" &&
		(errors.Is(pe.Err, syscall.ENOSPC) || errors.Is(pe.Err, syscall.EDQUOT))
}

// fillBallast puts the ballast, unless it is there.
func fillBallast(tx *bolt.Tx) error {
	b, err := tx.CreateBucketIfNotExists(bBallast)
	if err != nil {
		return fmt.Errorf("making the ballast: %w", err)
	}
	if b.Get(kBallast) != nil {
		return nil
	}
	if err := b.Put(kBallast, make([]byte, ballastSize)); err != nil {
		return fmt.Errorf("making the ballast: %w", err)
	}
	return nil
}

func hasBallast(tx *bolt.Tx) bool {
	b := tx.Bucket(bBallast)
	return b != nil && b.Get(kBallast) != nil
}
