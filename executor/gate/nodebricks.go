package gate

import (
	"context"
	"fmt"
	"time"
)

// A LocalBrick is a brick of this server as its glusterd has it on disk.
type LocalBrick struct {
	Volume string
	Host   string // the name by which its process finds glusterd: this server's
	Path   string
	Alive  bool // its process runs
}

// LocalBricks lists the bricks of this server, whether or not glusterd runs. It
// is for the first process of a pod and starts no process.
func LocalBricks(o Options) ([]LocalBrick, error) {
	g := &gate{o.withDefaults()}
	own, err := g.uuid()
	if err != nil || own == "" {
		return nil, err
	}
	files, err := g.brickFiles()
	if err != nil {
		return nil, err
	}
	running, err := g.bricks()
	if err != nil {
		return nil, err
	}
	alive := map[string]bool{}
	for _, b := range running {
		alive[b.Path] = alive[b.Path] || b.Alive
	}
	var out []LocalBrick
	for _, f := range files {
		if f.uuid == own {
			out = append(out, LocalBrick{Volume: f.volume, Host: f.host, Path: f.path, Alive: alive[f.path]})
		}
	}
	return out, nil
}

// Hold takes the server's lock for the first process of a pod: until release is
// called no command of an operator runs here. wait is for one that does.
func Hold(ctx context.Context, o Options, wait time.Duration) (release func(), err error) {
	g := &gate{o.withDefaults()}
	l, err := g.take(ctx, holder{Verb: "node"}, wait)
	if err != nil {
		return nil, fmt.Errorf("waiting for the gate: %w", err)
	}
	return l.release, nil
}
