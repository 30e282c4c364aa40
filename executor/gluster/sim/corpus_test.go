package sim

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/gluster/anthill/executor/gluster"
	"github.com/gluster/anthill/executor/gluster/sim/corpus"
)

// target is the simulated pool as the corpus needs it.
type target struct{ p *Pool }

func (t target) Gluster(ctx context.Context, server string, argv []string) (gluster.Output, error) {
	if len(argv) == 2 && argv[1] == "get-state" {
		text, err := t.p.GetState(server)
		return gluster.Output{Stdout: text}, err
	}
	return t.p.Run(ctx, server, gluster.Command{Argv: argv})
}

// foreignID is the mark of a volume that is none of the pool's.
const foreignID = "17359440-d7c8-42bf-8def-2f38c44ce3e9"

func (t target) Act(_ context.Context, act, server, path string) error {
	switch act {
	case "mkdir":
		return t.p.MakeDir(server, path)
	case "rmdir":
		return t.p.RemoveDir(server, path)
	case "mark":
		return t.p.Mark(server, path, foreignID, false)
	case "kill":
		return t.p.Kill(server)
	case "start":
		return t.p.Start(server)
	case "stop":
		return t.p.Stop(server)
	case "continue":
		return t.p.Continue(server)
	case "killbrick":
		return t.p.KillBrick(server, path)
	case "readonly", "writable":
		return t.p.ReadOnly(server, path, act == "readonly")
	case "passed": // a rebalance of nothing
		t.p.Advance(time.Minute)
		return nil
	}
	return fmt.Errorf("act %q is unknown", act)
}

func (t target) Settle(context.Context) error { return nil }

func (t target) History(_ context.Context, server string) ([]byte, error) {
	return t.p.History(server), nil
}

// TestCorpus holds the simulated pool to what GlusterFS 10.3 was recorded to
// answer.
func TestCorpus(t *testing.T) {
	files, err := filepath.Glob("testdata/corpus/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			corpus.Run(t, f, target{New(Options{Seed: 1, Servers: []string{"s1", "s2", "s3", "s4"}})})
		})
	}
}
