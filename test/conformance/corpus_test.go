package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/google/go-cmp/cmp"

	"github.com/gluster/anthill/executor/gluster"
	"github.com/gluster/anthill/executor/gluster/sim/corpus"
	"github.com/gluster/anthill/test/local"
	"github.com/gluster/anthill/test/seed"
)

const serversCount = 4

// quick are the transcripts that run without ANTHILL_TEST_FULL.
var quick = []string{"addbrick", "crawls", "stopped"}

// TestCorpus runs every transcript on fresh real servers.
func TestCorpus(t *testing.T) {
	files, err := filepath.Glob("../../executor/gluster/sim/testdata/corpus/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	ran := 0
	defer func() { t.Logf("%d of %d transcripts", ran, len(files)) }()
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".txt")
		if !seed.Full() && !slices.Contains(quick, name) {
			continue
		}
		ran++
		t.Run(filepath.Base(f), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
			defer cancel()
			env, err := local.Up(ctx, local.Config{
				Instance: "corpus-" + name, Servers: serversCount, Fresh: true, Log: func(line string) { t.Log(line) },
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
				defer cancel()
				if err := env.Down(ctx); err != nil {
					t.Error(err)
				}
			})
			corpus.Run(t, f, &target{env: env, down: map[string]bool{}})
		})
	}
}

// target is real servers under the names of the corpus.
type target struct {
	env  *local.Env
	down map[string]bool // glusterd killed or stopped
}

func (g *target) server(key string) (*local.Server, error) {
	for _, s := range g.env.Servers() {
		if s.Key() == key {
			return s, nil
		}
	}
	return nil, fmt.Errorf("there is no server %q", key)
}

// real and short translate the names of servers in a text.
func (g *target) real(text string) string {
	for _, s := range g.env.Servers() {
		if text == s.Key() || strings.HasPrefix(text, s.Key()+":") {
			return s.Name() + strings.TrimPrefix(text, s.Key())
		}
	}
	return text
}

func (g *target) short(text []byte) []byte {
	for _, s := range g.env.Servers() {
		text = bytes.ReplaceAll(text, []byte(s.Name()), []byte(s.Key()))
	}
	return text
}

func (g *target) Gluster(ctx context.Context, key string, argv []string) (gluster.Output, error) {
	s, err := g.server(key)
	if err != nil {
		return gluster.Output{}, err
	}
	if slices.Equal(argv, []string{"gluster", "get-state"}) {
		return g.getState(ctx, s)
	}
	argv = slices.Clone(argv)
	for i := range argv {
		argv[i] = g.real(argv[i])
	}
	return g.exec(ctx, s, argv...)
}

func (g *target) exec(ctx context.Context, s *local.Server, argv ...string) (gluster.Output, error) {
	stdout, err := s.Exec(ctx, append([]string{"env", "LC_ALL=C"}, argv...)...)
	out := gluster.Output{Stdout: g.short(stdout)}
	var exit *local.ExitError
	switch {
	case errors.As(err, &exit):
		out.Exit, out.Stdout, out.Stderr = exit.Code, g.short(exit.Stdout), g.short(exit.Stderr)
	case err != nil:
		return out, err
	}
	return out, nil
}

func (g *target) getState(ctx context.Context, s *local.Server) (gluster.Output, error) {
	const file = "/run/corpus-state"
	if _, err := s.Exec(ctx, "gluster", "get-state", "odir", "/run", "file", "corpus-state"); err != nil {
		return gluster.Output{}, err
	}
	text, err := os.ReadFile(s.Path(file))
	return gluster.Output{Stdout: g.short(text)}, err
}

// foreignID is the mark of a volume that is none of the pool's, as an xattr.
const foreignID = "0x17359440d7c842bf8def2f38c44ce3e9"

func (g *target) Act(ctx context.Context, act, key, path string) error {
	s, err := g.server(key)
	if err != nil {
		return err
	}
	run := func(argv ...string) error {
		_, err := s.Exec(ctx, argv...)
		return err
	}
	switch act {
	case "mkdir":
		return run("mkdir", "-p", path)
	case "rmdir":
		return run("rm", "-rf", path)
	case "mark":
		return run("setfattr", "-n", "trusted.glusterfs.volume-id", "-v", foreignID, path)
	case "readonly":
		return run("mount", "-o", "remount,ro", path)
	case "writable":
		return run("mount", "-o", "remount,rw", path)
	case "kill":
		g.down[key] = true
		return s.KillGlusterd(ctx)
	case "start":
		delete(g.down, key)
		return s.StartGlusterd(ctx)
	case "stop":
		g.down[key] = true
		return s.PauseGlusterd()
	case "continue":
		delete(g.down, key)
		return s.ResumeGlusterd()
	case "killbrick":
		n, err := s.Signal(unix.SIGKILL, func(p local.Process) bool {
			return p.Name() == "glusterfsd" && slices.Contains(p.Argv, path)
		})
		if err == nil && n != 1 {
			err = fmt.Errorf("%d processes serve %s on %s", n, path, key)
		}
		return err
	case "passed":
		return nil // Settle waits for rebalances
	}
	return fmt.Errorf("act %q is unknown", act)
}

func (g *target) History(_ context.Context, key string) ([]byte, error) {
	s, err := g.server(key)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(s.Path("/var/log/glusterfs/cmd_history.log"))
	return g.short(text), err
}

// Settle waits until what the answering servers see does not change any more
// and no rebalance is under way.
func (g *target) Settle(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	tick := time.NewTicker(400 * time.Millisecond)
	defer tick.Stop()
	var before []*gluster.State
	for same := 0; ; {
		now, quiet, err := g.views(ctx)
		if err != nil {
			return err
		}
		if quiet && cmp.Equal(before, now) {
			same++
		} else {
			same = 0
		}
		if before = now; same >= 3 {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("waiting for the pool to settle: %w", ctx.Err())
		}
	}
}

// views are the states of the servers that answer, without sizes.
func (g *target) views(ctx context.Context) (all []*gluster.State, quiet bool, err error) {
	quiet = true
	for _, s := range g.env.Servers() {
		if g.down[s.Key()] {
			continue
		}
		out, err := g.getState(ctx, s)
		if err != nil {
			return nil, false, err
		}
		st, err := gluster.ParseState(out.Stdout)
		if err != nil {
			return nil, false, err
		}
		for i := range st.Volumes {
			v := &st.Volumes[i]
			quiet = quiet && v.Rebalance.Word != "started"
			for j := range v.Bricks {
				v.Bricks[j].SizeBytes, v.Bricks[j].FreeBytes = 0, 0
			}
		}
		all = append(all, st)
	}
	return all, quiet, nil
}
