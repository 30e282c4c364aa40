package journal

import (
	"fmt"
	"maps"

	bolt "go.etcd.io/bbolt"
)

// Read returns events from a number on: at most max (0 or above: PageMax) and
// about 4 MiB, so fewer do not mean the end; none does. The events are copies.
// ErrNotFound: from lies below the first retained event.
func (j *Journal) Read(from Seq, max int) (list []Event, err error) {
	err = j.view(func(tx *bolt.Tx) error {
		list, err = readEvents(tx, &j.meta, from, max)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading events from %d: %w", from, err)
	}
	return list, nil
}

// ReadOp returns all events of an operation, oldest first; ErrNotFound if there
// is no such operation.
func (j *Journal) ReadOp(id OpID) ([]Event, error) {
	return readWholeOp(id, j.readOpPage)
}

func (j *Journal) readOpPage(id OpID, from Seq) (list []Event, err error) {
	err = j.view(func(tx *bolt.Tx) error {
		list, err = readOp(tx, id, from)
		return err
	})
	return list, err
}

// readWholeOp reads an operation page by page, each in a transaction of its own.
func readWholeOp(id OpID, page func(OpID, Seq) ([]Event, error)) ([]Event, error) {
	var all []Event
	for from := Seq(0); ; {
		list, err := page(id, from)
		if err != nil {
			return nil, fmt.Errorf("reading operation %s: %w", id, err)
		}
		if len(list) == 0 {
			break
		}
		all = append(all, list...)
		from = list[len(list)-1].Seq + 1
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("operation %s: %w", id, ErrNotFound)
	}
	return all, nil
}

// Ops lists the summaries of operations that a filter selects, newest first (by
// id, which the planner makes time-ordered), at most max (0 or above: PageMax).
// cursor is the last operation of the page before, zero to begin. An empty list
// is the end.
func (j *Journal) Ops(cursor OpID, max int, f Filter) ([]OpHead, error) {
	return pageOps(cursor, max, func(at OpID, n int) (list []OpHead, next OpID, err error) {
		err = j.view(func(tx *bolt.Tx) error {
			list, next, err = readOps(tx, at, n, &f)
			return err
		})
		return list, next, err
	})
}

// pageOps goes on over transactions that found nothing until there is a page.
func pageOps(cursor OpID, n int, page func(OpID, int) ([]OpHead, OpID, error)) ([]OpHead, error) {
	if n <= 0 || n > PageMax {
		n = PageMax
	}
	var all []OpHead
	for {
		list, next, err := page(cursor, n-len(all))
		if err != nil {
			return nil, fmt.Errorf("listing operations: %w", err)
		}
		all = append(all, list...)
		if next == (OpID{}) || len(all) == n {
			return all, nil
		}
		cursor = next
	}
}

// An Image is what a fold needs to begin at the head instead of at the first
// event. All of it is of one instant.
type Image struct {
	Head       Head
	Epoch      Epoch
	Open       [][]Event // the streams of the open operations, in the order they were planned
	Tombstones []Tombstone
	Fences     map[string]uint64
	Epochs     []Tenure
}

// Image reads the open operations and what goes with them.
func (j *Journal) Image() (Image, error) {
	j.mu.RLock()
	im := Image{
		Head: j.led.head, Epoch: j.led.epoch, Tombstones: j.led.tombstones(),
		Fences: maps.Clone(j.led.fences), Epochs: append([]Tenure(nil), j.led.tenures...),
	}
	open := j.led.open()
	ids := make([]OpID, len(open))
	for i, o := range open {
		ids[i] = o.ID
	}
	j.mu.RUnlock()
	for _, id := range ids {
		// Events are only ever added, so what is up to the head is as it was.
		all, err := j.ReadOp(id)
		if err != nil {
			return Image{}, err
		}
		for len(all) > 0 && all[len(all)-1].Seq > im.Head.Seq {
			all = all[:len(all)-1]
		}
		im.Open = append(im.Open, all)
	}
	return im, nil
}
