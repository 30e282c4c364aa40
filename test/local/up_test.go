package local

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestUpKeepsWhatRunsAndBringsBackTheRest(t *testing.T) {
	cfg := Config{Instance: "t-up", Servers: 2, Bricks: 1}
	env := bring(t, cfg)
	ctx := testContext(t)

	for _, kind := range []string{"link", "loop", "process", "file"} {
		if kinds(traces(t, cfg))[kind] == 0 {
			t.Errorf("no %s is found while the environment is up: the search for leftovers cannot fail", kind)
		}
	}
	if got := sick(ctx, env); len(got) > 0 {
		t.Errorf("unhealthy after Up():\n%s", strings.Join(got, "\n"))
	}
	first := map[string]proc{"s1": env.Server(1).proc(), "s2": env.Server(2).proc()}
	marker := env.Server(2).Path("/bricks/b1/marker")
	if err := os.WriteFile(marker, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}

	again, err := Up(ctx, cfg)
	if err != nil {
		t.Fatalf("second Up(): %v", err)
	}
	second := map[string]proc{"s1": again.Server(1).proc(), "s2": again.Server(2).proc()}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("a second Up() did not keep what runs (-first +second):\n%s", diff)
	}

	if err := env.Server(2).Kill(ctx); err != nil {
		t.Fatal(err)
	}
	if err := env.Server(1).Cut(ctx); err != nil {
		t.Fatal(err)
	}
	if err := env.Server(1).Pause(); err != nil {
		t.Fatal(err)
	}
	if got := sick(ctx, env); len(got) != 2 {
		t.Errorf("Status() names %q, want the killed and the paused server", got)
	}
	cfg.Servers = 3
	if again, err = Up(ctx, cfg); err != nil {
		t.Fatalf("Up() after a kill, a cut and a pause: %v", err)
	}
	if got := sick(ctx, again); len(got) > 0 {
		t.Errorf("unhealthy after Up() brought servers back:\n%s", strings.Join(got, "\n"))
	}
	if again.Server(1).proc() != first["s1"] {
		t.Error("the paused server was started anew, want it resumed")
	}
	if again.Server(2).proc() == first["s2"] {
		t.Error("the killed server has its old process")
	}
	if got, err := os.ReadFile(again.Server(2).Path("/bricks/b1/marker")); err != nil || string(got) != "kept" {
		t.Errorf("the killed server's brick holds %q, %v; want what was written before", got, err)
	}
	if got := len(again.Servers()); got != 3 {
		t.Errorf("%d servers, want the third added", got)
	}
	cfg.Bricks = 2
	if _, err := Up(ctx, cfg); err == nil || !strings.Contains(err.Error(), "take it down first") {
		t.Errorf("Up() with other bricks: %v, want a refusal that says what to do", err)
	}
}

func TestKilledUpAndDownAreCleanedUp(t *testing.T) {
	needRoot(t)
	cases := map[string]struct {
		reason string
		verb   string
		when   func(*state, Config) bool
		then   string
	}{
		"FirstState": {
			reason: "an Up killed before it started anything leaves a folder",
			verb:   "up", then: "down",
			when: func(s *state, _ Config) bool { return s != nil },
		},
		"FirstProcess": {
			reason: "an Up killed between recording a server's pid 1 and ordering it leaves no process without a parent",
			verb:   "up", then: "down",
			when: func(s *state, _ Config) bool { return s != nil && len(s.Procs) > 0 },
		},
		"LinksUp": {
			reason: "an Up killed while servers start is cleaned by the next Up",
			verb:   "up", then: "up",
			when: func(s *state, cfg Config) bool {
				return s != nil && len(s.Procs) == 2 && exists(newEnv(cfg).net.port("s1")) && exists(newEnv(cfg).net.port("s2"))
			},
		},
		"DownBegun": {
			reason: "a Down killed in the middle is finished by the next Down",
			verb:   "down", then: "down",
			when: func(s *state, _ Config) bool { return s == nil || s.Phase == phaseStopping },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ctx := testContext(t)
			cfg, err := Config{Instance: "t-" + strings.ToLower(name), Servers: 2, Bricks: 1}.withDefaults()
			if err != nil {
				t.Fatal(err)
			}
			if tc.verb == "down" {
				bring(t, cfg)
			} else if err := Down(ctx, cfg); err != nil {
				t.Fatal(err)
			}
			killProgram(t, tc.verb, cfg, tc.when)
			if tc.verb == "up" && len(traces(t, cfg)) == 0 {
				t.Error("the killed program left nothing behind: it was not killed in the middle")
			}
			if tc.then == "up" {
				env, err := Up(ctx, cfg)
				if err != nil {
					t.Fatalf("%s: Up() after the kill: %v", tc.reason, err)
				}
				if got := sick(ctx, env); len(got) > 0 {
					t.Errorf("%s: unhealthy:\n%s", tc.reason, strings.Join(got, "\n"))
				}
			}
			if err := Down(ctx, cfg); err != nil {
				t.Fatalf("%s: Down() after the kill: %v", tc.reason, err)
			}
			if left := traces(t, cfg); len(left) > 0 {
				t.Errorf("%s: left behind:\n%s", tc.reason, strings.Join(left, "\n"))
			}
		})
	}
}

// killProgram runs a program that brings cfg up or down and kills it as soon as
// the state file is as wanted.
func killProgram(t *testing.T, verb string, cfg Config, when func(*state, Config) bool) {
	t.Helper()
	order := programOrder{Verb: verb}
	order.Config.Instance, order.Config.Servers = cfg.Instance, cfg.Servers
	text, err := json.Marshal(order)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s", programVariable, text))
	var said Bounded
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	file := newEnv(cfg).stateFile()
	for !when(loadState(file), cfg) {
		select {
		case err := <-ended:
			t.Fatalf("the program ended before it could be killed: %v: %s", err, said.Bytes())
		case <-time.After(time.Millisecond):
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-ended
}
