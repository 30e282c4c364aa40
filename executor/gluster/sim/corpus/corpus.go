package corpus

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/gluster/anthill/executor/gluster"
)

// A Target is a pool of fresh servers s1, s2 ... with XFS file systems mounted
// at /bricks/b1 and /bricks/b2 on each.
type Target interface {
	// Gluster runs a command line on a server, as root there. The command has
	// its own patience: an answer "Request timed out" comes with Exit 1.
	Gluster(ctx context.Context, server string, argv []string) (gluster.Output, error)
	// Act does one of the acts of the package comment, but for settle and
	// history; path is empty for those that take none.
	Act(ctx context.Context, act, server, path string) error
	// Settle waits until the pool is quiet.
	Settle(ctx context.Context) error
	// History returns the tail of a server's cmd_history.log.
	History(ctx context.Context, server string) ([]byte, error)
}

// Run runs one transcript against a fresh target. With datadriven's -rewrite
// the answers are recorded instead of compared.
func Run(t *testing.T, file string, target Target) {
	t.Helper()
	r := &runner{t: target, ids: map[string]string{}}
	datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
		t.Helper()
		out, err := r.step(t.Context(), d)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		return out
	})
}

type runner struct {
	t     Target
	ids   map[string]string // UUID -> name
	made  int
	asked map[string]bool // servers whose own UUID was looked up
}

func (r *runner) step(ctx context.Context, d *datadriven.TestData) (string, error) {
	arg := func(i int) string {
		if i < len(d.CmdArgs) {
			return d.CmdArgs[i].Key
		}
		return ""
	}
	switch d.Cmd {
	case "gluster":
		return r.gluster(ctx, arg(0), strings.Fields(d.Input))
	case "settle":
		return "", r.t.Settle(ctx)
	case "history":
		text, err := r.t.History(ctx, arg(0))
		return r.named(lastLine(text)), err
	case "state":
		return r.state(ctx, arg(0))
	}
	return "", r.t.Act(ctx, d.Cmd, arg(0), arg(1))
}

func (r *runner) gluster(ctx context.Context, server string, words []string) (string, error) {
	argv := []string{"gluster", "--mode=script", "--xml"}
	argv = append(argv, words...)
	out, err := r.t.Gluster(ctx, server, argv)
	if err != nil {
		return "", fmt.Errorf("running %v on %s: %w", words, server, err)
	}
	r.learn(ctx, server)
	return r.essentials(words, out), nil
}

// learn finds out a server's own UUID once it has one, without making it have
// one: its get-state would do, but peers say it too.
func (r *runner) learn(ctx context.Context, server string) {
	if r.asked == nil {
		r.asked = map[string]bool{}
	}
	if r.asked[server] {
		return
	}
	out, err := r.t.Gluster(ctx, server, []string{"gluster", "--mode=script", "--xml", "system::", "uuid", "get"})
	if err != nil || out.Exit != 0 {
		return
	}
	if id := uuidIn(string(out.Stdout)); id != "" {
		r.asked[server] = true
		r.ids[id] = "U-" + server
	}
}

// name is what a UUID is called in the transcript.
func (r *runner) name(id string) string {
	if id == "" || id == zeroUUID || id == "-" {
		return id
	}
	if r.ids[id] == "" {
		r.made++
		r.ids[id] = fmt.Sprintf("ID-%d", r.made)
	}
	return r.ids[id]
}

const zeroUUID = "00000000-0000-0000-0000-000000000000"

// lastLine is the last line of a history, without its time and not counting
// what this package asked by itself.
func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n[")
	for _, l := range slices.Backward(lines) {
		if _, after, ok := strings.Cut(l, "] "); ok {
			l = after
		}
		l = cutGuess(strings.Join(strings.Fields(l), " "))
		if !strings.HasPrefix(l, ": get-state ") && !strings.HasPrefix(l, ": system:: ") {
			return l + "\n"
		}
	}
	return ""
}

func cutGuess(s string) string {
	before, _, _ := strings.Cut(s, "Did you mean")
	return strings.TrimSpace(before)
}
