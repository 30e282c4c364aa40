package journal

import (
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// spaceMin is what must be available, on the disk and below the maximum size,
// before the ballast is put back: the ballast, twice, and room to work.
const spaceMin = 2*ballastSize + allocSize

// releaseBallast is called when a transaction found no space: from now on only
// events that end something are taken, and the ballast's pages are theirs. It
// reports whether trying again makes sense.
func (j *Journal) releaseBallast(cause error) bool {
	if j.Full() {
		return false
	}
	j.setFull(true)
	j.o.Logger.Error("journal is full: nothing new is begun until there is space", "path", j.path, "err", cause)
	err := contain(func() error {
		return j.db.Update(func(tx *bolt.Tx) error {
			if !hasBallast(tx) {
				return nil
			}
			return tx.DeleteBucket(bBallast)
		})
	})
	switch {
	case err == nil:
		return true
	case isFull(err):
		j.o.Logger.Error("journal: the ballast could not be released", "err", err)
	default:
		j.die(fmt.Errorf("releasing the ballast: %w", err))
	}
	return false
}

// restoreBallast ends the state of being full once there is space again.
func (j *Journal) restoreBallast() {
	avail, err := availableBytes(j.path)
	if err != nil || avail < spaceMin || j.headroom() < spaceMin {
		return
	}
	err = contain(func() error { return j.db.Update(fillBallast) })
	switch {
	case err == nil:
		j.setFull(false)
		j.o.Logger.Info("journal has space again", "path", j.path)
	case isFull(err):
	default:
		j.die(fmt.Errorf("restoring the ballast: %w", err))
	}
}

// headroom is what the file may still hold: free pages and what it may grow.
func (j *Journal) headroom() int64 {
	room := int64(j.db.Stats().FreePageN) * pageSize
	err := j.db.View(func(tx *bolt.Tx) error {
		room += max(0, j.o.MaxSize-tx.Size())
		return nil
	})
	if err != nil {
		return 0
	}
	return room
}

func (j *Journal) setFull(full bool) {
	j.mu.Lock()
	j.full = full
	j.mu.Unlock()
}
