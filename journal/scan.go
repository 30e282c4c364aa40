package journal

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"runtime"
	"sync"

	bolt "go.etcd.io/bbolt"
)

// A scan is what reading every event once, without decoding most of them,
// tells about a journal.
type scan struct {
	id      string
	head    Head
	epoch   Epoch
	opened  bool // the last epoch was not closed
	byType  map[Type]uint64
	open    map[OpID]Seq // operations without a terminal event, and their op.planned
	fences  map[string]uint64
	tenures []Tenure
}

const scanChunk = 2048 // events

// A chunk of consecutive events on its way through the scan.
type chunk struct {
	first  Seq
	codecs []byte
	hashes []Hash
	stored [][]byte
	sums   [][32]byte
	looks  []glance
	err    error
	done   chan struct{}
}

// scanEvents verifies the chain over all events of tx and collects a scan. The
// sums over the stored bytes are computed by several goroutines, the links by
// this one, in order. Its error is a *CorruptError or the context's.
func scanEvents(ctx context.Context, tx *bolt.Tx, m *metaState) (*scan, error) {
	workers := min(runtime.GOMAXPROCS(0), 4)
	work := make(chan *chunk, workers)
	order := make(chan *chunk, 2*workers)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for c := range work {
				c.err = contain(c.digest)
				close(c.done)
			}
		})
	}
	var readErr error
	wg.Go(func() {
		defer close(order)
		defer close(work)
		readErr = contain(func() error { return readChunks(tx, m.tail.Seq, work, order, stop) })
	})
	s := &scan{
		id:   m.id.String(),
		head: Head{Seq: m.tail.Seq - 1, Hash: m.tail.Hash}, byType: map[Type]uint64{},
		open: map[OpID]Seq{}, fences: map[string]uint64{},
	}
	var err error
	for c := range order {
		<-c.done
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = s.chunk(c)
		}
		if err != nil {
			select {
			case <-stop:
			default:
				close(stop)
			}
		}
	}
	wg.Wait()
	switch {
	case err != nil:
		return nil, err
	case readErr != nil:
		return nil, readErr
	case s.head != m.head:
		return nil, &CorruptError{Key: "meta/head", What: fmt.Sprintf("the recorded head is event %d (%s), the events end at %d (%s)",
			m.head.Seq, m.head.Hash, s.head.Seq, s.head.Hash)}
	case s.epoch != m.epoch && len(s.tenures) > 0:
		return nil, &CorruptError{Key: "meta/epoch", What: fmt.Sprintf("the recorded epoch is %d, the events end in %d", m.epoch, s.epoch)}
	}
	return s, nil
}

// readChunks cuts the events into chunks. It hands each to a worker before it
// hands it to the consumer, so the consumer never waits for one nobody has.
func readChunks(tx *bolt.Tx, first Seq, work, order chan<- *chunk, stop <-chan struct{}) error {
	newChunk := func(first Seq) *chunk {
		return &chunk{
			first: first, codecs: make([]byte, 0, scanChunk), hashes: make([]Hash, 0, scanChunk),
			stored: make([][]byte, 0, scanChunk), done: make(chan struct{}),
		}
	}
	send := func(c *chunk) bool {
		select {
		case work <- c:
			order <- c
			return true
		case <-stop:
			return false
		}
	}
	c, next := newChunk(first), first
	cur := tx.Bucket(bEv).Cursor()
	for k, v := cur.First(); k != nil; k, v = cur.Next() {
		if len(k) != 8 || Seq(binary.BigEndian.Uint64(k)) != next {
			return &CorruptError{Seq: next, Key: fmt.Sprintf("ev/%x", k), What: fmt.Sprintf("the event after %d is missing", next-1)}
		}
		codec, h, stored, ok := splitEv(v)
		if !ok {
			return &CorruptError{Seq: next, What: "the event is cut short"}
		}
		c.codecs, c.hashes, c.stored = append(c.codecs, codec), append(c.hashes, h), append(c.stored, stored)
		next++
		if len(c.stored) == scanChunk {
			if !send(c) {
				return nil
			}
			c = newChunk(next)
		}
	}
	if len(c.stored) > 0 {
		send(c)
	}
	return nil
}

func (c *chunk) digest() error {
	c.sums = make([][32]byte, len(c.stored))
	c.looks = make([]glance, len(c.stored))
	for i, b := range c.stored {
		c.sums[i] = sum256(b)
		var err error
		if c.looks[i], err = glanceAt(c.first+Seq(i), c.codecs[i], b); err != nil {
			c.looks[i] = glance{} // the chain says more precisely what is wrong, if it is
			c.looks[i].typ = undecodable
		}
	}
	return nil
}

const undecodable Type = "\x00undecodable"

// chunk checks the links of one chunk and folds what was glanced at.
func (s *scan) chunk(c *chunk) error {
	if c.err != nil {
		return c.err
	}
	for i := range c.stored {
		seq := c.first + Seq(i)
		h := link(s.head.Hash, seq, c.codecs[i], c.sums[i])
		if h != c.hashes[i] {
			return &CorruptError{Seq: seq, What: "the event does not match its hash"}
		}
		s.head = Head{Seq: seq, Hash: h}
		if err := s.look(seq, &c.looks[i], c.codecs[i], c.stored[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *scan) look(seq Seq, g *glance, codec byte, stored []byte) error {
	if g.typ == undecodable {
		_, err := decodeEvent(seq, codec, stored)
		return err
	}
	s.byType[g.typ]++
	switch {
	case g.typ == OpPlanned:
		if s.open[g.op] == 0 {
			s.open[g.op] = seq
		}
	case g.typ.Terminal():
		delete(s.open, g.op)
	case !ofOperation(g.typ):
		return s.journalEvent(seq, codec, stored)
	}
	if g.epoch != s.epoch && len(s.tenures) > 0 {
		return epochError(seq, g.epoch, s.epoch)
	}
	return nil
}

func epochError(seq Seq, have, want Epoch) error {
	return &CorruptError{Seq: seq, What: fmt.Sprintf("the event is of epoch %d in epoch %d", have, want)}
}

// journalEvent folds an event of the journal itself.
func (s *scan) journalEvent(seq Seq, codec byte, stored []byte) error {
	ev, err := decodeEvent(seq, codec, bytes.Clone(stored))
	if err != nil {
		return err
	}
	f, err := parseFact(&ev)
	if err != nil {
		return &CorruptError{Seq: seq, What: err.Error()}
	}
	want := s.epoch
	switch ev.Type {
	case JournalInitialized:
		if f.init.JournalID != s.id {
			return &CorruptError{Seq: seq, Key: "meta/journalID", What: fmt.Sprintf("the journal calls itself %s, its first event %s", s.id, f.init.JournalID)}
		}
	case EpochOpened:
		want++
		if len(s.tenures) == 0 {
			want = ev.Epoch // the tail may begin in any
		}
		s.epoch, s.opened = ev.Epoch, true
		s.tenures = append(s.tenures, Tenure{Epoch: ev.Epoch, Opened: seq, Time: ev.Time, Build: ev.Build, By: f.opened})
	case EpochClosed:
		s.opened = false
		if n := len(s.tenures); n > 0 {
			s.tenures[n-1].Closed = seq
		}
	case FenceRaised:
		s.fences[f.fence.Scope] = max(s.fences[f.fence.Scope], f.fence.Fence)
	}
	if ev.Epoch != want && (len(s.tenures) > 0 || seq == 1) {
		return epochError(seq, ev.Epoch, want)
	}
	return nil
}
