package journal

import (
	"context"
	"io"
)

// A liveReader reads the journal of its own process.
type liveReader struct{ j *Journal }

var _ Reader = liveReader{}

// Reader returns the journal as a Reader. Closing it does nothing.
func (j *Journal) Reader() Reader { return liveReader{j} }

func (r liveReader) Info(context.Context) (Info, error) {
	j := r.j
	return Info{
		Source: SourceLive, Path: j.path, JournalID: j.ID(), Format: int(j.meta.format),
		Head: j.Head(), Tail: j.meta.tail.Seq, Epoch: j.Epoch(),
	}, nil
}

func (r liveReader) Stats(context.Context) (Stats, error) { return r.j.Stats() }

func (r liveReader) Ops(_ context.Context, cursor OpID, max int, f Filter) ([]OpHead, error) {
	return r.j.Ops(cursor, max, f)
}

func (r liveReader) Events(_ context.Context, from Seq, max int) ([]Event, error) {
	return r.j.Read(from, max)
}
func (r liveReader) OpEvents(_ context.Context, id OpID) ([]Event, error) { return r.j.ReadOp(id) }
func (r liveReader) Epochs(context.Context) ([]Tenure, error)             { return r.j.Epochs(), nil }
func (r liveReader) Tombstones(context.Context) ([]Tombstone, error)      { return r.j.Tombstones(), nil }
func (r liveReader) Verify(ctx context.Context) (Report, error)           { return r.j.Verify(ctx) }
func (r liveReader) Close() error                                         { return nil }

func (r liveReader) Snapshot(ctx context.Context, w io.Writer) (Manifest, error) {
	return r.j.Snapshot(ctx, w)
}

func (r liveReader) Follow(ctx context.Context, from Seq, fn func(Event) error) error {
	wake, stop := r.j.Watch()
	defer stop()
	for {
		var err error
		if from, err = eachEvent(ctx, from, r.Events, fn); err != nil {
			return err
		}
		select {
		case <-wake:
		case <-r.j.stop:
			return ErrClosed
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
