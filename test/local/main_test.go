package local

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gluster/anthill/test/loop"
)

// programVariable makes the test binary a program of its own that brings an
// environment up or down, to be killed in the middle of it.
const programVariable = "ANTHILL_LOCAL_TEST_PROGRAM"

// programOrder is what such a program does.
type programOrder struct {
	Verb   string
	Config struct {
		Instance string
		Servers  int
	}
}

func TestMain(m *testing.M) {
	if order := os.Getenv(programVariable); order != "" {
		os.Exit(runProgram(order))
	}
	goleak.VerifyTestMain(m,
		// client-go keeps connections to API servers that are gone, in a cache of
		// its own, until they have been idle for 90 s.
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"),
		goleak.IgnoreAnyFunction("golang.org/x/net/http2.(*ClientConn).readLoop"),
		goleak.IgnoreAnyFunction("net/http/internal/http2.(*ClientConn).readLoop"),
	)
}

func runProgram(order string) int {
	var o programOrder
	if err := json.Unmarshal([]byte(order), &o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	cfg := Config{Instance: o.Config.Instance, Servers: o.Config.Servers, Bricks: 1, KeepFailed: true}
	var err error
	if o.Verb == "up" {
		_, err = Up(context.Background(), cfg)
	} else {
		err = Down(context.Background(), cfg)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// needRoot fails the test where it cannot mean anything.
func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("this test makes namespaces, mounts and loop devices: run it as root")
	}
}

// testContext ends well before the test binary's own deadline.
func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// bring is Up for a test, with what runs taken down at its end.
func bring(t *testing.T, cfg Config) *Env {
	t.Helper()
	needRoot(t)
	cfg.Fresh = true
	cfg.Log = func(line string) { t.Log(line) }
	// Registered before Up, so that a failed one is taken down too.
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := Down(ctx, cfg); err != nil {
			t.Errorf("Down(): %v", err)
		}
		if left := traces(t, cfg); len(left) > 0 {
			t.Errorf("left behind after Down():\n%s", strings.Join(left, "\n"))
		}
	})
	env, err := Up(testContext(t), cfg)
	if err != nil {
		t.Fatalf("Up(): %v", err)
	}
	return env
}

// traces lists everything on this machine that belongs to the environment of
// cfg: links, mounts, loop devices, processes, files. It looks for the
// environment's id and folder and not into the state file, so that it also finds
// what no state file knows.
func traces(t *testing.T, cfg Config) []string {
	t.Helper()
	cfg, err := cfg.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	e := newEnv(cfg)
	var out []string
	links, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range links {
		if strings.HasPrefix(l.Name, e.net.bridge()) {
			out = append(out, "link "+l.Name)
		}
	}
	points, err := mountsBelow(e.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range points {
		out = append(out, "mount "+p)
	}
	loops, err := loop.Below(e.dir)
	if err != nil {
		t.Fatal(err)
	}
	for device, file := range loops {
		out = append(out, "loop "+device+" of "+file)
	}
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range processes {
		command, _ := os.ReadFile(filepath.Join(p, "cmdline"))
		mounts, _ := os.ReadFile(filepath.Join(p, "mountinfo"))
		if strings.Contains(string(command), e.net.id) || strings.Contains(string(mounts), e.dir+"/") {
			out = append(out, "process "+filepath.Base(p)+" "+strings.ReplaceAll(string(command), "\x00", " "))
		}
	}
	files, err := filepath.Glob(e.dir + "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		out = append(out, "file "+f)
	}
	return out
}

// sick returns what Status says is not healthy.
func sick(ctx context.Context, e *Env) []string {
	var out []string
	for _, c := range e.Status(ctx) {
		if !c.Healthy {
			out = append(out, c.Name+": "+c.State)
		}
	}
	return out
}

// kinds counts traces by their first word.
func kinds(traces []string) map[string]int {
	out := map[string]int{}
	for _, t := range traces {
		kind, _, _ := strings.Cut(t, " ")
		out[kind]++
	}
	return out
}
