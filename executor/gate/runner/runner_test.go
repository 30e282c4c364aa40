package runner

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gluster/anthill/executor/gate"
	"github.com/gluster/anthill/executor/gluster"
)

// transport answers with a function.
type transport func(gate.Request) (gate.Reply, error)

func (f transport) Do(_ context.Context, r gate.Request) (gate.Reply, error) { return f(r) }

func runnerOf(f transport) *Runner {
	return New(gate.NewClient(f, "p", "i", func() uint64 { return 7 }), time.Minute)
}

func TestRunAsksTheGate(t *testing.T) {
	read := gluster.Command{Argv: []string{"gluster", "pool", "list"}, Deadline: time.Second}
	mutate := gluster.Command{Argv: []string{"gluster", "peer", "probe", "n2"}, Mutates: true, Attempt: "a1", Deadline: time.Second}
	cases := map[string]struct {
		reason string
		cmd    gluster.Command
		want   gate.Request
	}{
		"Read":   {"a read has no attempt and waits for nobody", read, gate.Request{Version: 1, Verb: gate.Read, Pool: "p", Instance: "i", Fence: 7, Argv: read.Argv, Deadline: time.Second}},
		"Mutate": {"a mutation has both", mutate, gate.Request{Version: 1, Verb: gate.Run, Pool: "p", Instance: "i", Fence: 7, Argv: mutate.Argv, Deadline: time.Second, Attempt: "a1", LockWait: time.Minute}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got gate.Request
			out, err := runnerOf(func(r gate.Request) (gate.Reply, error) {
				got = r
				return gate.Reply{Version: 1, Result: &gate.Result{Exit: 3, Stdout: []byte("o"), Stderr: []byte("e"), Truncated: true, TimedOut: true, Elapsed: 5}}, nil
			}).Run(t.Context(), tc.cmd)
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, d)
			}
			want := gluster.Output{Exit: 3, Stdout: []byte("o"), Stderr: []byte("e"), Truncated: true, TimedOut: true, Elapsed: 5}
			if d := cmp.Diff(want, out); d != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, d)
			}
		})
	}
}

func TestErrorsKeepTheirMeaning(t *testing.T) {
	busy := func(attempt string) gate.Reply {
		return gate.Reply{Version: 1, Exit: gate.ExitBusy, Reason: gate.ReasonBusy, Receipt: &gate.Receipt{Attempt: attempt}}
	}
	lost := errors.New("cut")
	cases := map[string]struct {
		reason     string
		rep        gate.Reply
		err        error
		is         error
		notStarted bool
	}{
		"Busy":         {"another command runs", busy("a0"), nil, gluster.ErrServerBusy, true},
		"BusyItself":   {"the attempt itself runs", busy("a1"), nil, nil, false},
		"Fenced":       {"somebody else's server", gate.Reply{Version: 1, Exit: gate.ExitFenced, Reason: gate.ReasonForeignPool}, nil, gluster.ErrFenced, true},
		"Refused":      {"a command outside the lists", gate.Reply{Version: 1, Exit: gate.ExitUsage, Reason: gate.ReasonNotAllowed}, nil, gate.ErrRefused, true},
		"Interrupted":  {"its end was not seen", gate.Reply{Version: 1, Exit: gate.ExitFailed, Reason: gate.ReasonInterrupted}, nil, gate.ErrInterrupted, false},
		"Lost":         {"the reply is lost", gate.Reply{}, lost, lost, false},
		"NotStarted":   {"the request is lost", gate.Reply{}, gate.ErrNotStarted, gate.ErrNotStarted, true},
		"NotInstalled": {"no gate", gate.Reply{}, gate.ErrNotInstalled, gate.ErrNotInstalled, true},
		"NoResult":     {"a reply without a result is none", gate.Reply{Version: 1}, nil, gate.ErrCutFrame, false},
		"OtherVersion": {"nor is one of another protocol", gate.Reply{Version: 2, Result: &gate.Result{}}, nil, nil, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := runnerOf(func(gate.Request) (gate.Reply, error) { return tc.rep, tc.err }).
				Run(t.Context(), gluster.Command{Argv: []string{"gluster"}, Mutates: true, Attempt: "a1"})
			if err == nil || tc.is != nil && !errors.Is(err, tc.is) {
				t.Errorf("%s: got %v, want %v", tc.reason, err, tc.is)
			}
			if got := gluster.IsNotStarted(err); got != tc.notStarted || got != gate.NotStarted(err) {
				t.Errorf("%s: IsNotStarted %t, NotStarted %t, want %t (%v)", tc.reason, got, gate.NotStarted(err), tc.notStarted, err)
			}
		})
	}
	_, err := runnerOf(func(gate.Request) (gate.Reply, error) { t.Error("it was sent"); return gate.Reply{}, nil }).
		Run(t.Context(), gluster.Command{Argv: []string{"gluster"}, Mutates: true})
	if !gluster.IsNotStarted(err) {
		t.Errorf("a mutation without an attempt: %v", err)
	}
}
