package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gluster/anthill/cmd/anthill/cli"
	"github.com/gluster/anthill/cmd/anthill/gatefirst"
	"github.com/gluster/anthill/cmd/anthill/probefirst"
	"github.com/gluster/anthill/executor/gate"
	"github.com/gluster/anthill/journal"
)

// asAnthill makes the test binary behave as anthill.
const asAnthill = "ANTHILL_TEST_RUN_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asAnthill) != "" {
		main()
	}
	os.Exit(m.Run())
}

// process is anthill as a process of its own.
func process(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, args...)
	cmd.Env = append(os.Environ(), asAnthill+"=1")
	return cmd
}

func TestRun(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   []string
		code   cli.Code
		out    string
		err    string
	}{
		"Nothing": {
			reason: "Without a command the help goes to standard error and nothing succeeds.",
			args:   []string{"anthill"}, code: cli.Usage, err: "a command is missing",
		},
		"Unknown": {
			reason: "An unknown command is one line that says what is accepted.",
			args:   []string{"anthill", "frobnicate"}, code: cli.Usage, err: `unknown command "frobnicate": completion, journal, manager`,
		},
		"Misspelt": {
			reason: "A near miss is named.",
			args:   []string{"anthill", "jornal"}, code: cli.Usage, err: "did you mean journal?",
		},
		"GroupAlone": {
			reason: "A group without its verb does not succeed.",
			args:   []string{"anthill", "journal"}, code: cli.Usage, err: "a command is missing",
		},
		"UnknownFlag": {
			reason: "Flags too.",
			args:   []string{"anthill", "version", "--frob"}, code: cli.Usage, err: "unknown flag --frob: --help or --output is accepted",
		},
		"Help": {
			reason: "Help that was asked for is output.",
			args:   []string{"anthill", "journal", "--help"}, out: "anthill journal [command]",
		},
		"StorageWithoutDevice": {
			reason: "A device without a path is an error of the command line, before anything is done.",
			args:   []string{"anthill", "node", "run", "--storage", "b1"}, code: cli.Usage, err: "NAME=DEVICE is wanted",
		},
		"StorageElsewhere": {
			reason: "So is a name that leads elsewhere.",
			args:   []string{"anthill", "node", "run", "--storage", "../b1=/dev/x"}, code: cli.Usage, err: "a name has 1 to 16",
		},
		"NotFirst": {
			reason: "What ends all other processes runs in a container only.",
			args:   []string{"anthill", "node", "run", "--storage", "b1=/dev/x"}, code: cli.Failed, err: "first process of a container",
		},
		"Plugin": {
			reason: "Under kubectl the help says what to type there.",
			args:   []string{"/usr/local/bin/kubectl-anthill", "journal", "ls", "--help"}, out: "kubectl anthill journal ls [flags]",
		},
		"GateHelp": {
			reason: "The gate explains itself when asked.",
			args:   []string{"anthill", "node", "gate", "--help"}, out: gate.BinaryPath,
		},
		"GateArguments": {
			reason: "The gate takes everything from its input.",
			args:   []string{"anthill", "node", "gate", "now"}, code: cli.Usage, err: `unexpected argument "now"`,
		},
		"Version": {
			reason: "One line for people.",
			args:   []string{"anthill", "version"}, out: "anthill devel",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var out, errOut bytes.Buffer
			code := run(t.Context(), tc.args, &out, &errOut)
			if cli.Code(code) != tc.code || !strings.Contains(out.String(), tc.out) || !strings.Contains(errOut.String(), tc.err) {
				t.Errorf("%s\ngot exit %d, out %q, err %q", tc.reason, code, out.String(), errOut.String())
			}
			if tc.code != cli.OK && out.Len() != 0 {
				t.Errorf("%s\na failure printed data: %q", tc.reason, out.String())
			}
		})
	}
}

func TestVersionJSON(t *testing.T) {
	version = "v9.9.9"
	defer func() { version = "" }()
	var out, errOut bytes.Buffer
	if code := run(context.Background(), []string{"anthill", "version", "-o", "json"}, &out, &errOut); code != 0 {
		t.Fatalf("exit %d: %s", code, errOut.String())
	}
	var b build
	if err := json.Unmarshal(out.Bytes(), &b); err != nil {
		t.Fatalf("decoding %q: %v", out.String(), err)
	}
	if b.Version != "v9.9.9" || b.Gate != gate.ProtocolVersion || b.Go == "" || b.Platform == "" {
		t.Errorf("got %+v", b)
	}
}

func TestGateWanted(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   []string
		want   bool
	}{
		"ByVerb":        {reason: "This is what the operator calls.", args: []string{"/opt/anthill", "node", "gate"}, want: true},
		"ByName":        {reason: "And this.", args: []string{gate.BinaryPath}, want: true},
		"ByNameAndVerb": {reason: "The verb works under every name.", args: []string{gate.BinaryPath, "node", "gate"}, want: true},
		"Help":          {reason: "Help is the command line's.", args: []string{"anthill", "node", "gate", "--help"}},
		"OtherVerb":     {reason: "Another command is not the gate.", args: []string{"anthill", "journal", "ls"}},
		"NameWithVerb":  {reason: "Under the gate's name the others still work.", args: []string{gate.BinaryPath, "version"}},
		"NoArguments":   {reason: "No argument at all must not fail.", args: nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := gatefirst.Wanted(tc.args); got != tc.want {
				t.Errorf("%s: got %v", tc.reason, got)
			}
		})
	}
}

// TestGateStartsFirst asserts what makes the gate start fast: it answers before
// any of the packages is initialised that take their time to be.
func TestGateStartsFirst(t *testing.T) {
	// Measured: these are four fifths of the time all initialisation takes.
	expensive := []string{
		"k8s.io/api/core/v1", "k8s.io/client-go/kubernetes/scheme", "github.com/prometheus/client_golang/prometheus",
		"sigs.k8s.io/controller-runtime/pkg/client/apiutil", "sigs.k8s.io/controller-runtime/pkg/internal/controller/metrics",
	}
	_, all := initialised(t, "", "version")
	out, early := initialised(t, `{"version":1,"verb":"hello"}`, "node", "gate")
	rep, err := gate.Decode(bytes.NewReader(out))
	if err != nil || rep.Version != gate.ProtocolVersion {
		t.Fatalf("the gate's answer %q: %v", out, err)
	}
	for _, pkg := range expensive {
		if !slices.Contains(all, pkg) {
			t.Errorf("%s is not initialised at all: the list is out of date", pkg)
		}
		if slices.Contains(early, pkg) {
			t.Errorf("%s was initialised before the gate answered", pkg)
		}
	}
}

func TestProbeWanted(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   []string
		want   bool
	}{
		"Alive":   {"This is what a kubelet runs.", []string{"/usr/local/bin/anthill", "node", "alive"}, true},
		"Help":    {"Help is the command line's.", []string{"anthill", "node", "alive", "--help"}, false},
		"Run":     {"The pod itself is no probe.", []string{"anthill", "node", "run"}, false},
		"Other":   {"Nor is another command.", []string{"anthill", "journal", "alive"}, false},
		"Nothing": {"No argument at all must not fail.", nil, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := probefirst.Wanted(tc.args); got != tc.want {
				t.Errorf("%s: got %v", tc.reason, got)
			}
		})
	}
}

// TestProbeStartsFirst: probes run every few seconds, see TestGateStartsFirst.
func TestProbeStartsFirst(t *testing.T) {
	cmd := process(t, "node", "alive")
	cmd.Env = append(cmd.Env, "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "asking the first process") {
		t.Fatalf("a probe where nobody serves: %v: %s", err, out)
	}
	for _, pkg := range []string{"k8s.io/api/core/v1", "k8s.io/client-go/kubernetes/scheme", "github.com/prometheus/client_golang/prometheus"} {
		if strings.Contains(string(out), "init "+pkg+" @") {
			t.Errorf("%s was initialised before the probe answered", pkg)
		}
	}
}

// initialised runs anthill and returns its output and the packages that were
// initialised.
func initialised(t *testing.T, in string, args ...string) (out []byte, packages []string) {
	t.Helper()
	cmd := process(t, args...)
	cmd.Env = append(cmd.Env, "GODEBUG=inittrace=1")
	cmd.Stdin = strings.NewReader(in)
	var trace bytes.Buffer
	cmd.Stderr = &trace
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("running anthill %v: %v: %s%s", args, err, out, trace.String())
	}
	for _, m := range regexp.MustCompile(`(?m)^init (\S+)`).FindAllStringSubmatch(trace.String(), -1) {
		packages = append(packages, m[1])
	}
	return out, packages
}

// TestClosedPipeIsQuiet reads one line of many, as head -1 does.
func TestClosedPipeIsQuiet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j, err := journal.Open(t.Context(), path, journal.Options{MaxSize: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.OpenEpoch(t.Context(), journal.Opened{Instance: "test"}); err != nil {
		t.Fatal(err)
	}
	for n := range uint64(20) {
		var batch []journal.Event
		for i := range uint64(200) {
			ev, err := journal.New(journal.FenceRaised, journal.OpID{}, journal.Fence{Scope: "pool", Fence: 1 + n*200 + i})
			if err != nil {
				t.Fatal(err)
			}
			batch = append(batch, ev)
		}
		if _, err := j.Append(t.Context(), journal.Guard{}, batch...); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := process(t, "journal", "events", "--file", path)
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // by SIGPIPE, as any filter ends
	if s := errOut.String(); strings.Contains(s, "anthill:") || strings.Contains(s, "panic") {
		t.Errorf("a reader that left was an error: %q", s)
	}
	if cmd.ProcessState.Success() {
		t.Errorf("the command went on to its end: nothing was tested")
	}
}
