package planctl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/gluster/anthill/cmd/anthill/cli"
	"github.com/gluster/anthill/cmd/anthill/journalctl"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
	"github.com/gluster/anthill/planner/controller"
)

// Bounds of what is read of a journal.
const (
	opsMax   = 10_000 // open operations
	endedMax = 100    // the newest that have ended
)

// past is the journal at one moment, as the planner needs it.
type past struct{ picture view.Picture }

var _ controller.View = (*past)(nil)

// Snapshot returns it.
func (p *past) Snapshot() (view.Picture, error) { return p.picture, nil }

// Op finds an open operation.
func (p *past) Op(id journal.OpID) (*view.Op, error) {
	for _, op := range p.picture.Open {
		if op.ID == id {
			return op, nil
		}
	}
	return nil, journal.ErrNotFound
}

// history reads the journal: from the operator that is asked for, or runs here,
// else from the file. Without any, what is under way is not known, and the
// person is told.
func (o *options) history(ctx context.Context, getenv func(string) string, notes io.Writer) (*past, error) {
	r, err := o.reader(ctx, getenv)
	if err != nil {
		return nil, err
	}
	if r == nil {
		_, _ = fmt.Fprintln(notes, "# no journal here: operations under way are not considered; name one with --socket or --journal")
		return &past{picture: view.Picture{Tombstones: map[string]view.Tombstone{}}}, nil
	}
	defer func() { _ = r.Close() }()
	p, err := readPast(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("reading the journal: %w", err)
	}
	info, err := r.Info(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the journal: %w", err)
	}
	_, _ = fmt.Fprintf(notes, "# journal %s %s, head %d, %d operations under way\n", info.Source, cli.Line(info.Path), info.Head.Seq, len(p.picture.Open))
	return p, nil
}

func (o *options) reader(ctx context.Context, getenv func(string) string) (journal.Reader, error) {
	path := getenv(journalctl.PathEnv)
	if path == "" {
		path = journalctl.DefaultPath
	}
	if o.journal != "" {
		return journal.OpenReader(ctx, o.journal)
	}
	socket := o.socket
	if socket == "" {
		socket = journal.SocketPath(path)
	}
	c, err := journal.Dial(ctx, socket)
	if err == nil {
		return c, nil
	}
	if o.socket != "" || !errors.Is(err, journal.ErrUnavailable) {
		return nil, err
	}
	r, err := journal.OpenReader(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // there is none, which is not wrong
	}
	return r, err
}

func readPast(ctx context.Context, r journal.Reader) (*past, error) {
	epochs, err := r.Epochs(ctx)
	if err != nil {
		return nil, err
	}
	p := &past{picture: view.Picture{Tombstones: map[string]view.Tombstone{}}}
	tombstones, err := r.Tombstones(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range tombstones {
		p.picture.Tombstones[t.Intent] = t
	}
	read := func(f journal.Filter, max int, keep func(*view.Op)) error {
		var cursor journal.OpID
		for n := 0; n < max; {
			heads, err := r.Ops(ctx, cursor, min(journal.PageMax, max-n), f)
			if err != nil || len(heads) == 0 {
				return err
			}
			for _, h := range heads {
				events, err := r.OpEvents(ctx, h.ID)
				if err != nil {
					return err
				}
				if op := view.FoldOp(events, epochs); op != nil {
					keep(op)
				}
			}
			n, cursor = n+len(heads), heads[len(heads)-1].ID
		}
		return nil
	}
	// Operations come newest first; a picture has them oldest first.
	err = read(journal.Filter{Open: true}, opsMax, func(op *view.Op) {
		if !op.State.Terminal() {
			p.picture.Open = append([]*view.Op{op}, p.picture.Open...)
		}
	})
	if err != nil {
		return nil, err
	}
	return p, read(journal.Filter{}, endedMax, func(op *view.Op) {
		if op.State.Terminal() {
			p.picture.Recent = append([]*view.Op{op}, p.picture.Recent...)
		}
	})
}
