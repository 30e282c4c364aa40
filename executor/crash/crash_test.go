package crash

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const envChild = "CRASH_TEST_CHILD"

// TestMain is also the process that dies.
func TestMain(m *testing.M) {
	if os.Getenv(envChild) == "" {
		os.Exit(m.Run())
	}
	if err := Arm(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	Here("a")
	Here("b", "x", "y")
	Here("a")
	Here("b", "x", "y")
	fmt.Println("survived")
	os.Exit(0)
}

func TestHere(t *testing.T) {
	cases := map[string]struct {
		reason string
		at     string
		trace  string // what the process got to
		killed bool
		exit   int
	}{
		"Nowhere":     {reason: "a trace kills nobody", trace: "1 a#1\n2 b/x/y#1\n3 a#2\n4 b/x/y#2\n"},
		"ByNumber":    {reason: "numbers count over all points", at: "3", trace: "1 a#1\n2 b/x/y#1\n3 a#2\n", killed: true},
		"ByName":      {reason: "a name counts its own times", at: "b/x/y#2", trace: "1 a#1\n2 b/x/y#1\n3 a#2\n4 b/x/y#2\n", killed: true},
		"NeverSoOft":  {reason: "a point that is not reached so often kills nobody", at: "a#3", trace: "1 a#1\n2 b/x/y#1\n3 a#2\n4 b/x/y#2\n"},
		"OtherLabels": {reason: "labels belong to the name", at: "b#1", trace: "1 a#1\n2 b/x/y#1\n3 a#2\n4 b/x/y#2\n"},
		"NotANumber":  {reason: "nonsense is an error, not a run without kill", at: "a", exit: 2},
		"NoName":      {reason: "a number needs its name, or none", at: "#1", exit: 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "trace")
			cmd := exec.Command(os.Args[0])
			cmd.Env = []string{envChild + "=1", EnvTrace + "=" + file, EnvAt + "=" + tc.at}
			err := cmd.Run()
			var exit *exec.ExitError
			killed := errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
			if killed != tc.killed || !killed && cmd.ProcessState.ExitCode() != tc.exit {
				t.Errorf("%s: %v", tc.reason, err)
			}
			trace, _ := os.ReadFile(file)
			if d := cmp.Diff(tc.trace, string(trace)); d != "" {
				t.Errorf("%s: trace (-want +got):\n%s", tc.reason, d)
			}
		})
	}
}
