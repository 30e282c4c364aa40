package journalctl

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/gluster/anthill/cmd/anthill/cli"
	"github.com/gluster/anthill/journal"
)

// serve serves the script's journal until stop is called.
func (s *script) serve(actor journal.Actor) (stop func()) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	srv, err := journal.Listen(ctx, s.j, journal.SocketPath(s.path), actor)
	if err != nil {
		s.t.Fatalf("listening: %v", err)
	}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ctx) }()
	return func() {
		s.t.Helper()
		cancel()
		if err := <-done; err != nil {
			s.t.Fatalf("serving: %v", err)
		}
	}
}

func TestLiveReading(t *testing.T) {
	s := newScript(t)
	s.add(s.plan(1, "add-brick", "volume/v1", nil))
	stop := s.serve(nil)
	socket := journal.SocketPath(s.path)
	cases := map[string]struct {
		reason string
		args   []string
		code   cli.Code
		out    string
		err    string
	}{
		"BySocketOfTheEnvironment": {
			reason: "The socket beside the journal named by the environment is asked first.",
			args:   []string{"ls", "-o", "name"}, out: opID(1).String() + "\n", err: "# live " + s.path + ", head 3, epoch 1\n",
		},
		"BySocketFlag": {
			reason: "A socket that is named is asked.",
			args:   []string{"ls", "-o", "name", "--socket", socket}, out: opID(1).String() + "\n", err: "# live " + s.path + ", head 3, epoch 1\n",
		},
		"WrongSocket": {
			reason: "There is no other source than the one that was named.",
			args:   []string{"ls", "--socket", socket + ".not"}, code: cli.Unavailable,
			err: "anthill: connecting to",
		},
		"FileInUse": {
			reason: "A file somebody writes is not read behind his back.",
			args:   []string{"ls", "--file", s.path}, code: cli.Unavailable, err: "in use by",
		},
		"VerifyFileInUse": {
			reason: "Nor verified.",
			args:   []string{"verify", "--file", s.path}, code: cli.Unavailable, err: "in use by",
		},
		"VerifyLive": {
			reason: "The live journal verifies a copy of itself.",
			args:   []string{"verify"}, out: "intact journal 5c71e4a0", err: "# checked " + s.path,
		},
		"StatsLive": {
			reason: "Live figures include the writer's.",
			args:   []string{"stats", "-o", "ndjson"}, out: `"writer":{"commits":`, err: "# live",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := anthill(t.Context(), scriptEnv(s.path), tc.args...)
			if got.code != tc.code || !strings.Contains(got.out, tc.out) || !strings.Contains(got.err, tc.err) {
				t.Errorf("%s\ngot exit %d, out %q, err %q\nwant exit %d, out %q, err %q", tc.reason, got.code, got.out, got.err, tc.code, tc.out, tc.err)
			}
		})
	}
	stop()
	got := anthill(t.Context(), scriptEnv(s.path), "ls")
	if got.code != cli.Unavailable || !strings.Contains(got.err, "in use by process") || !strings.Contains(got.err, "over its socket") {
		t.Errorf("a journal that is held and not served: got exit %d, err %q", got.code, got.err)
	}
	s.close()
	got = anthill(t.Context(), scriptEnv(s.path), "ls", "-o", "name")
	if want := (result{out: opID(1).String() + "\n", err: "# file " + s.path + ", head 4, epoch 1\n"}); got != want {
		t.Errorf("once nobody holds it the file is read: got %+v, want %+v", got, want)
	}
	got = anthill(t.Context(), scriptEnv(filepath.Join(t.TempDir(), "none.db")), "ls")
	if got.code != cli.Unavailable || !strings.Contains(got.err, "no journal at") {
		t.Errorf("no journal at all: got exit %d, err %q", got.code, got.err)
	}
}

func TestDecisions(t *testing.T) {
	s := newScript(t)
	s.add(s.plan(6, "add-brick", "volume/v6", nil), s.op(journal.OpStarted, 6, nil))
	s.add(s.plan(7, "add-brick", "volume/v7", nil), s.op(journal.OpStarted, 7, nil))
	s.add(s.step(journal.StepStarted, 7, "guard", 1, journal.Started{AttemptID: "a"}), s.step(journal.StepUnknown, 7, "guard", 1, journal.Failure{Class: "unknown"}))
	defer s.close()
	var (
		asked  journal.Act
		answer error
	)
	defer s.serve(journal.ActorFunc(func(_ context.Context, a journal.Act) (journal.Acted, error) {
		asked = a
		return journal.Acted{Seq: 99, Message: "resumed"}, answer
	}))()
	ask := func(verb string) journal.Act {
		return journal.Act{Verb: verb, Op: opID(6), Reason: "disk is back", Person: "ada"}
	}
	cases := map[string]struct {
		reason string
		args   []string
		answer error
		asked  journal.Act
		code   cli.Code
		out    string
		err    string
	}{
		"Retry": {
			reason: "A decision carries the verb, the operation, the person and the reason; a prefix names the operation.",
			args:   []string{"retry", "019c5a06", "--reason", "disk is back"},
			asked:  ask("retry"), out: "operation " + opID(6).String() + ": resumed (event 99)\n",
		},
		"ResolveDone": {
			reason: "Done says that the effect is there.",
			args:   []string{"resolve", "019c5a06/add-brick", "--done", "--reason", "disk is back"},
			asked: func() journal.Act {
				a := ask("resolve")
				a.Step, a.Outcome = "add-brick", journal.OutcomeDone
				return a
			}(), out: "event 99",
		},
		"ResolveNotDone": {
			reason: "Not done says that it is not and will not be.",
			args:   []string{"resolve", "019c5a06/add-brick", "--not-done", "--reason", "disk is back"},
			asked: func() journal.Act {
				a := ask("resolve")
				a.Step, a.Outcome = "add-brick", journal.OutcomeNotDone
				return a
			}(), out: "event 99",
		},
		"CancelAsSomebody": {
			reason: "--as names the person, --if-version what was seen.",
			args:   []string{"cancel", "019c5a06", "--reason", "disk is back", "--as", "bob", "--if-version", "7"},
			asked: func() journal.Act {
				a := ask("cancel")
				a.Person, a.IfVersion = "bob", 7
				return a
			}(), out: "event 99",
		},
		"AbandonJSON": {
			reason: "Machines get the same.",
			args:   []string{"abandon", "019c5a06", "--reason", "disk is back", "-o", "ndjson"},
			asked:  ask("abandon"),
			out:    `{"operation":"` + opID(6).String() + `","verb":"abandon","person":"ada","reason":"disk is back","seq":99,"message":"resumed"}` + "\n",
		},
		"Stale": {
			reason: "A guard that does not hold is exit 4.",
			args:   []string{"retry", "019c5a06", "--reason", "disk is back"},
			answer: fmt.Errorf("version is 8: %w", journal.ErrConflict), asked: ask("retry"), code: cli.Conflict, err: "version is 8",
		},
		"Refused": {
			reason: "A plain refusal is exit 1.",
			args:   []string{"retry", "019c5a06", "--reason", "disk is back"},
			answer: fmt.Errorf("it is running: %w", journal.ErrRefused), asked: ask("retry"), code: cli.Failed, err: "it is running",
		},
		"InDoubt": {
			reason: "A refusal while a step's outcome is unknown is exit 9: that has to be settled first.",
			args:   []string{"abandon", "019c5a07", "--reason", "disk is back"},
			answer: fmt.Errorf("settle it first: %w", journal.ErrRefused),
			asked: func() journal.Act {
				a := ask("abandon")
				a.Op = opID(7)
				return a
			}(), code: cli.NeedsDecision, err: "settle it first",
		},
		"RefusedStale": {
			reason: "A refusal of what has changed since is exit 4.",
			args:   []string{"retry", "019c5a06", "--reason", "disk is back", "--if-version", "1"},
			answer: fmt.Errorf("look again: %w", journal.ErrRefused),
			asked: func() journal.Act {
				a := ask("retry")
				a.IfVersion = 1
				return a
			}(), code: cli.Conflict, err: "look again",
		},
		"Gone": {
			reason: "No such operation is exit 3 and nobody is asked.",
			args:   []string{"retry", "019c5aff", "--reason", "disk is back"},
			code:   cli.NotFound, err: `no operation "019c5aff"`,
		},
		"TwoLines": {
			reason: "A reason is one line, for it is printed as one.",
			args:   []string{"retry", "019c5a06", "--reason", "a\nb"}, code: cli.Usage, err: "one line",
		},
		"Nobody": {
			reason: "A name that could fake another line is refused.",
			args:   []string{"retry", "019c5a06", "--reason", "ok", "--as", "a b"}, code: cli.Usage, err: "a name without spaces",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			asked, answer = journal.Act{}, tc.answer
			got := anthill(t.Context(), scriptEnv(s.path), tc.args...)
			if got.code != tc.code || !strings.Contains(got.out, tc.out) || !strings.Contains(got.err, tc.err) {
				t.Errorf("%s\ngot exit %d, out %q, err %q", tc.reason, got.code, got.out, got.err)
			}
			if diff := cmp.Diff(tc.asked, asked); diff != "" {
				t.Errorf("%s\n-want +asked:\n%s", tc.reason, diff)
			}
		})
	}
}

// A tail is "anthill journal tail -f -o name" under way: its output is the
// numbers of the events.
type tail struct {
	t      *testing.T
	lines  *bufio.Scanner
	cancel context.CancelFunc
	done   chan error
	notes  strings.Builder
}

func follow(t *testing.T, s *script, args ...string) *tail {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	f := &tail{t: t, lines: bufio.NewScanner(r), cancel: cancel, done: make(chan error, 1)}
	root := cli.Group(&cobra.Command{Use: "anthill", SilenceErrors: true, SilenceUsage: true})
	root.AddCommand(NewCommand(scriptEnv(s.path)))
	root.SetOut(w)
	root.SetErr(&f.notes)
	root.SetArgs(append([]string{"journal", "tail", "-f", "-o", "name"}, args...))
	go func() {
		err := root.ExecuteContext(ctx)
		_ = w.Close()
		f.done <- err
	}()
	return f
}

// want reads the numbers of the next events.
func (f *tail) want(seqs ...journal.Seq) {
	f.t.Helper()
	for _, seq := range seqs {
		if !f.lines.Scan() {
			f.t.Fatalf("tail ended with %v before event %d", <-f.done, seq)
		}
		if got := f.lines.Text(); got != fmt.Sprint(seq) {
			f.t.Fatalf("got event %s, want %d", got, seq)
		}
	}
}

func (f *tail) end() cli.Code {
	f.cancel()
	return cli.CodeOf(<-f.done)
}

func TestFollowAcrossRestart(t *testing.T) {
	s := newScript(t)
	stop := s.serve(nil)
	s.add(s.plan(1, "add-brick", "volume/v1", nil))
	f := follow(t, s, "-n", "2")
	f.want(2, 3)
	s.add(s.op(journal.OpStarted, 1, nil))
	f.want(4)
	stop()
	s.close() // writes event 5, epoch.closed
	s.open()  // writes event 6, epoch.opened
	stop = s.serve(nil)
	s.add(s.op(journal.OpSuspended, 1, journal.Suspended{Cause: "Permanent"}))
	f.want(5, 6, 7)
	if code := f.end(); code != cli.Interrupted {
		t.Errorf("an interrupted tail: got exit %d, want %d", code, cli.Interrupted)
	}
	if n := f.notes.String(); !strings.Contains(n, "the operator went away after event 4; waiting for it") {
		t.Errorf("the gap was not told: %q", n)
	}
	stop()
	s.close()
}

func TestFollowFilters(t *testing.T) {
	s := newScript(t)
	defer s.close()
	defer s.serve(nil)()
	s.add(s.plan(1, "add-brick", "volume/v1", nil), s.plan(2, "add-brick", "volume/v2", nil))
	f := follow(t, s, "-n", "1", "--op", "019c5a02", "--type", "op.*")
	f.want(4)
	s.add(s.op(journal.OpStarted, 1, nil))
	s.add(s.op(journal.OpStarted, 2, nil), s.step(journal.StepSucceeded, 2, "guard", 0, nil))
	s.add(s.op(journal.OpSuspended, 2, journal.Suspended{Cause: "Permanent"}))
	f.want(6, 8)
	f.end()
}

func TestFollowRefusesAnotherPast(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(t *testing.T, s *script, old []byte)
		code   cli.Code
	}{
		"Rewound": {
			reason: "A journal that lost events which were printed is damage.",
			change: func(t *testing.T, s *script, old []byte) {
				t.Helper()
				if err := os.WriteFile(s.path, old, 0o600); err != nil {
					t.Fatal(err)
				}
				s.open()
			},
			code: cli.Damaged,
		},
		"Replaced": {
			reason: "Another journal is not the continuation of this one.",
			change: func(t *testing.T, s *script, _ []byte) {
				t.Helper()
				if err := os.Remove(s.path); err != nil {
					t.Fatal(err)
				}
				s.id = "5c71e4a0-0000-4000-8000-000000000002"
				s.open()
			},
			code: cli.Conflict,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newScript(t)
			old, err := os.ReadFile(s.path)
			if err != nil {
				t.Fatal(err)
			}
			for n := range 5 {
				s.add(s.plan(n+1, "add-brick", fmt.Sprintf("volume/v%d", n), nil))
			}
			stop := s.serve(nil)
			f := follow(t, s, "-n", "1")
			f.want(7)
			stop()
			s.close()
			tc.change(t, s, old)
			stop = s.serve(nil)
			if f.lines.Scan() {
				t.Errorf("%s: got event %s", tc.reason, f.lines.Text())
			}
			if code := cli.CodeOf(<-f.done); code != tc.code {
				t.Errorf("%s: got exit %d, want %d", tc.reason, code, tc.code)
			}
			stop()
			s.close()
		})
	}
}
