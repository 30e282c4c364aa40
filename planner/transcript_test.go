package planner

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/gluster/anthill/journal"
)

// TestTranscripts runs the scenarios in testdata. testdata/README.md says how to
// read and write them; -rewrite puts what happens into them.
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		t.Helper()
		if !strings.HasSuffix(path, ".txt") {
			return
		}
		w := newWorld()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			t.Helper()
			run, ok := commands[d.Cmd]
			if !ok {
				t.Fatalf("%s: unknown command %q", d.Pos, d.Cmd)
			}
			out, err := run(w, args{d})
			if err != nil {
				t.Fatalf("%s: %s: %v", d.Pos, d.Cmd, err)
			}
			if out == "" {
				return "ok\n"
			}
			return shorten(out)
		})
	})
}

var opIDs = regexp.MustCompile(`00000000-0000-7000-8000-0*([0-9]+)`)

// shorten names operations op1, op2 ... as the transcripts do.
func shorten(s string) string { return opIDs.ReplaceAllString(s, "op$1") }

// args are the arguments of a command.
type args struct{ d *datadriven.TestData }

// arguments are those of a command that is not in a file.
func arguments(words ...string) args {
	d := &datadriven.TestData{}
	for _, w := range words {
		key, value, ok := strings.Cut(w, "=")
		arg := datadriven.CmdArg{Key: key}
		if ok {
			arg.Vals = []string{value}
		}
		d.CmdArgs = append(d.CmdArgs, arg)
	}
	return args{d}
}

func (a args) all(key string) []string {
	for _, arg := range a.d.CmdArgs {
		if arg.Key == key {
			return arg.Vals
		}
	}
	return nil
}

func (a args) has(key string) bool {
	return slices.ContainsFunc(a.d.CmdArgs, func(arg datadriven.CmdArg) bool { return arg.Key == key })
}

func (a args) one(key string) string {
	if v := a.all(key); len(v) > 0 {
		return v[0]
	}
	return ""
}

func (a args) number(key string, otherwise int) (int, error) {
	if !a.has(key) {
		return otherwise, nil
	}
	return strconv.Atoi(a.one(key))
}

func (a args) pairs(key string) map[string]string {
	out := map[string]string{}
	for _, p := range a.all(key) {
		if k, v, ok := strings.Cut(p, ":"); ok {
			out[k] = v
		}
	}
	return out
}

// first is the argument without a value: what the command is about.
func (a args) first() string {
	if len(a.d.CmdArgs) > 0 && len(a.d.CmdArgs[0].Vals) == 0 {
		return a.d.CmdArgs[0].Key
	}
	return ""
}

func (a args) ops(w *world) ([]journal.OpID, error) {
	var out []journal.OpID
	for _, arg := range a.d.CmdArgs {
		if arg.Key == "all" {
			for i := range w.open {
				out = append(out, w.open[i].ID)
			}
			return out, nil
		}
		before := len(out)
		for i := range w.open {
			if len(arg.Vals) == 0 && w.open[i].Plan.Target == arg.Key {
				out = append(out, w.open[i].ID)
			}
		}
		if len(out) > before {
			continue
		}
		n, ok := strings.CutPrefix(arg.Key, "op")
		if len(arg.Vals) == 0 && !ok && arg.Key != "end" {
			return nil, fmt.Errorf("no operation on %s is open", arg.Key)
		}
		if len(arg.Vals) > 0 || arg.Key == "end" {
			continue
		}
		k, err := strconv.Atoi(n)
		if err != nil || w.op(opID(k)) == nil {
			return nil, fmt.Errorf("operation %s is not open", arg.Key)
		}
		out = append(out, opID(k))
	}
	return out, nil
}
