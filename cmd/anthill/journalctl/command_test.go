package journalctl

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/spf13/cobra"
	"go.uber.org/goleak"

	"github.com/gluster/anthill/cmd/anthill/cli"
	"github.com/gluster/anthill/journal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A result is what one command line came to.
type result struct {
	out, err string
	code     cli.Code
}

// anthill runs "anthill journal args..." as the process would.
func anthill(ctx context.Context, env Env, args ...string) result {
	var out, errOut bytes.Buffer
	root := cli.Group(&cobra.Command{Use: "anthill", SilenceErrors: true, SilenceUsage: true})
	root.SetFlagErrorFunc(cli.FlagError)
	root.AddCommand(NewCommand(env))
	root.SetOut(&out)
	root.SetErr(&errOut)
	root.SetArgs(append([]string{"journal"}, args...))
	code := cli.Report(&errOut, root.ExecuteContext(ctx))
	return result{out.String(), errOut.String(), code}
}

// scriptEnv finds the journal at path and sees it at scriptNow.
func scriptEnv(path string, more ...string) Env {
	vars := map[string]string{PathEnv: path, "USER": "ada"}
	for _, kv := range more {
		k, v, _ := strings.Cut(kv, "=")
		vars[k] = v
	}
	return Env{
		Getenv: func(k string) string { return vars[k] },
		Now:    func() time.Time { return scriptNow },
		Local:  time.FixedZone("", 3600),
		Person: func() (string, error) { return vars["USER"], nil },
	}
}

// What differs from run to run, or with the store's own layout.
var (
	hashes = regexp.MustCompile(`\b[0-9a-f]{64}\b`)
	sizes  = regexp.MustCompile(`\d+(\.\d+)? ([KMG]i)?B\b`)
	tooks  = regexp.MustCompile(`\b(in|p50|p99) [0-9.]+(ms|s|µs)\b`)
	bytesN = regexp.MustCompile(`("?(?:file|used|free)Bytes"?|"?seconds"?): [0-9.e-]+`)
)

func masked(s, path string) string {
	s = strings.ReplaceAll(s, filepath.Dir(path), "/j")
	s = hashes.ReplaceAllStringFunc(s, func(h string) string {
		if strings.HasPrefix(h, "00000000") {
			return h // an intent of the script
		}
		return "<hash>"
	})
	s = sizes.ReplaceAllString(s, "<size>")
	s = tooks.ReplaceAllString(s, "$1 <time>")
	return bytesN.ReplaceAllString(s, "$1: <n>")
}

// TestTranscripts runs the command lines of testdata/*.txt on the script's
// journal. Accept a rewrite (-rewrite) only if the change is meant: output,
// exit codes and JSON are promises.
//
// A line is one command line behind "anthill journal"; ops are written as
// $1 ... $10. What goes to standard error is marked with "! ".
func TestTranscripts(t *testing.T) {
	s := allStates(t)
	datadriven.Walk(t, "testdata", func(t *testing.T, file string) {
		t.Helper()
		datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
			t.Helper()
			if d.Cmd != "journal" {
				t.Fatalf("unknown command %q", d.Cmd)
			}
			var b strings.Builder
			for line := range strings.Lines(d.Input) {
				args := strings.Fields(line)
				for i, a := range args {
					for n := 10; n > 0; n-- {
						a = strings.ReplaceAll(a, fmt.Sprintf("$%d", n), opID(n).String())
					}
					args[i] = a
				}
				r := anthill(t.Context(), scriptEnv(s.path), args...)
				b.WriteString(masked(r.out, s.path))
				for l := range strings.Lines(masked(r.err, s.path)) {
					b.WriteString("! " + l)
				}
				if r.code != cli.OK {
					fmt.Fprintf(&b, "exit %d\n", r.code)
				}
			}
			return b.String()
		})
	})
	rep, err := journal.Verify(t.Context(), s.path)
	if err != nil || !rep.OK() {
		t.Errorf("reading changed the journal: %v %v", err, rep.Findings)
	}
}
