package journal

import (
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	bolt "go.etcd.io/bbolt"
)

// serve commits a batch, whose first request is the leader's own, and answers
// the others. One goroutine at a time is here: the leader.
func (j *Journal) serve(batch []*request) {
	err := j.poisoned()
	if err == nil {
		err = j.try(batch)
	}
	for i, r := range batch {
		if r.err == nil && err != nil {
			r.seq, r.err = 0, err
		}
		if i > 0 {
			r.wake <- false
		}
	}
}

// try commits a batch. Its error is that of every request without its own.
func (j *Journal) try(batch []*request) error {
	if j.full {
		j.restoreBallast()
	}
	err := j.commit(batch)
	if isFull(err) && j.unchanged() && j.releaseBallast(err) {
		err = j.commit(batch)
	}
	switch {
	case err == nil:
		return nil
	case j.poisoned() != nil:
		return j.poisoned()
	case isFull(err) && j.unchanged():
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	j.die(err)
	return j.poisoned()
}

// die ends the process: what the failed commit left on the disk is not known
// here, and only a process that reads it afresh may go on.
func (j *Journal) die(err error) {
	err = fmt.Errorf("committing to journal %q: %w: %w", j.path, ErrPoisoned, err)
	j.poison.Store(&err)
	j.o.Fatal(err)
}

// unchanged reports whether the stored head is still the one in memory: a
// transaction that failed for want of space must have left nothing.
func (j *Journal) unchanged() bool {
	var m metaState
	err := contain(func() error {
		return j.db.View(func(tx *bolt.Tx) (err error) {
			m, err = readMeta(tx, true)
			return err
		})
	})
	return err == nil && m.head == j.led.head
}

// commit writes the requests that are admitted in one transaction and
// publishes the new state. Requests that are not get their own error and do
// not disturb the others. An error is of the whole transaction.
func (j *Journal) commit(batch []*request) (err error) {
	begun := time.Now()
	tx, err := j.db.Begin(true)
	if err != nil {
		return fmt.Errorf("beginning: %w", err)
	}
	defer func() { _ = contain(tx.Rollback) }() // says that it is over, if it is
	layer := j.led.over()
	layer.ended = func(id OpID) (*opRow, error) { return readRow(tx, id) }
	admitted := 0
	err = contain(func() error {
		for _, r := range batch {
			r.seq, r.err = 0, nil
			if r.err = j.admit(tx, layer, r); r.err == nil {
				admitted++
			} else if errors.As(r.err, new(*storeError)) {
				return r.err
			}
		}
		if admitted == 0 {
			return nil
		}
		return project(tx, layer)
	})
	if err != nil || admitted == 0 {
		return err
	}
	j.o.CrashPoint("journal.append.before-commit")
	if err := contain(tx.Commit); err != nil {
		return err
	}
	j.o.CrashPoint("journal.append.after-commit")
	j.publish(layer, admitted, time.Since(begun))
	return nil
}

// admit checks a request against the batch so far, and stores its events.
func (j *Journal) admit(tx *bolt.Tx, batch *ledger, r *request) error {
	layer := batch.over()
	if err := r.guard.hold(layer); err != nil {
		return err
	}
	now := j.o.Clock().UnixNano()
	for i := range r.events {
		ev := &r.events[i]
		if err := j.stamp(layer, ev, r.own, now); err != nil {
			return err
		}
		if err := layer.accept(r.facts[i]); err != nil {
			return err
		}
		layer.head.Seq = ev.Seq // the hash follows when all are accepted
	}
	if err := layer.settle(); err != nil {
		return err
	}
	head, err := store(tx, batch.head, r.events)
	if err != nil {
		return &storeError{err}
	}
	layer.head = head
	layer.merge()
	r.seq = head.Seq
	return nil
}

// A storeError is a failure after a request's first write: it fails the whole
// transaction.
type storeError struct{ error }

func (e *storeError) Unwrap() error { return e.error }

// store puts events after head.
func store(tx *bolt.Tx, head Head, events []Event) (Head, error) {
	for i := range events {
		ev := &events[i]
		var err error
		if head, err = putEvent(tx, head.Hash, ev); err != nil {
			return head, err
		}
	}
	return head, nil
}

// stamp fills in what the journal knows of an event.
func (j *Journal) stamp(l *ledger, ev *Event, own bool, now int64) error {
	if !l.opened && !own {
		return ErrNoEpoch
	}
	if j.full && begins(ev.Type) {
		return ErrFull
	}
	ev.Seq, ev.Time, ev.Epoch, ev.OpVer, ev.Prev = l.head.Seq+1, now, l.epoch, 0, 0
	if ev.Type == EpochOpened {
		ev.Epoch++
	}
	if ev.Op != uuid.Nil {
		ver, last, err := l.version(ev.Op)
		if err != nil {
			return err
		}
		ev.OpVer, ev.Prev = ver+1, last
	}
	return nil
}

// begins reports whether an event begins something, so that a full journal
// refuses it and keeps its last space for the events that end things.
func begins(t Type) bool {
	switch t {
	case OpPlanned, OpStarted, OpResumed, StepStarted, StepProgress:
		return true
	}
	return false
}

// hold evaluates a guard.
func (g *Guard) hold(l *ledger) error {
	if g.Epoch != 0 && g.Epoch != l.epoch {
		return fmt.Errorf("epoch %d is not open, %d is: %w", g.Epoch, l.epoch, ErrConflict)
	}
	for id, want := range g.OpVer {
		have, _, err := l.version(id)
		if err != nil {
			return err
		}
		if have != want {
			return fmt.Errorf("operation %s is at version %d, not %d: %w", id, have, want, ErrConflict)
		}
	}
	for _, key := range g.IntentAbsent {
		if r := l.intent(key); r.Op != uuid.Nil && !r.Dead {
			return fmt.Errorf("intent %q is planned already by operation %s: %w", key, r.Op, ErrConflict)
		}
	}
	return nil
}

// project writes what follows from a batch's events: rows of operations, open
// operations, intents, the head.
func project(tx *bolt.Tx, l *ledger) error {
	// A bucket that is looked up is written again, so only those in need are.
	ops := tx.Bucket(bOp)
	for id, o := range l.ops {
		v, err := encodeRow(o.row())
		if err != nil {
			return err
		}
		if err := ops.Put(id[:], v); err != nil {
			return fmt.Errorf("storing operation %s: %w", id, err)
		}
		switch {
		case o.Terminal():
			err = tx.Bucket(bOpen).Delete(id[:])
		case o.First > l.parent.head.Seq:
			err = tx.Bucket(bOpen).Put(id[:], seqKey(o.First))
		}
		if err != nil {
			return fmt.Errorf("storing operation %s: %w", id, err)
		}
	}
	for key, r := range l.intents {
		if r.Op == uuid.Nil {
			if err := tx.Bucket(bIntent).Delete([]byte(key)); err != nil {
				return fmt.Errorf("removing intent %q: %w", key, err)
			}
			continue
		}
		v, err := encodeRow(r)
		if err != nil {
			return err
		}
		if err := tx.Bucket(bIntent).Put([]byte(key), v); err != nil {
			return fmt.Errorf("storing intent %q: %w", key, err)
		}
	}
	meta := tx.Bucket(bMeta)
	if l.epoch != l.parent.epoch {
		if err := putMeta(meta, kEpoch, seqKey(Seq(l.epoch))); err != nil {
			return fmt.Errorf("storing the epoch: %w", err)
		}
	}
	if err := putMeta(meta, kHead, headBytes(l.head)); err != nil {
		return fmt.Errorf("storing the head: %w", err)
	}
	return nil
}

// publish makes a committed batch visible and wakes the watchers.
func (j *Journal) publish(layer *ledger, appends int, took time.Duration) {
	j.mu.Lock()
	defer j.mu.Unlock()
	layer.merge()
	j.stats.add(appends, took)
	for ch := range j.watchers {
		select {
		case ch <- struct{}{}:
		default: // it has one to read already
		}
	}
}

// closeEpoch writes epoch.closed; the queue is closed.
func (j *Journal) closeEpoch() error {
	r := &request{events: []Event{{Type: EpochClosed}}, own: true}
	err := r.check()
	if err == nil {
		j.serve([]*request{r})
		err = r.err
	}
	if err != nil {
		return fmt.Errorf("closing the epoch: %w", err)
	}
	return nil
}
