package gluster

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An answer is one captured answer that was not clean.
type answer struct {
	name string
	argv []string
	out  Output
}

// loadAnswers reads testdata/10.3/answers.txt.
func loadAnswers(t *testing.T) []answer {
	t.Helper()
	text, err := os.ReadFile("testdata/10.3/answers.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []answer
	for _, part := range strings.Split("\n"+string(text), "\n== ")[1:] {
		head, body, _ := strings.Cut(part, "\n")
		var a answer
		var exit string
		a.name, head, _ = strings.Cut(head, " exit=")
		exit, head, _ = strings.Cut(head, " argv=")
		if a.out.Exit, err = strconv.Atoi(exit); err != nil {
			t.Fatalf("answer %q: %v", a.name, err)
		}
		a.argv = cli(strings.Fields(head)...)
		stdout, stderr, _ := strings.Cut(body+"\n", "-- stderr\n")
		a.out.Stdout, a.out.Stderr = []byte(stdout), []byte(stderr)
		all = append(all, a)
	}
	if len(all) < 100 {
		t.Fatalf("only %d answers were read", len(all))
	}
	return all
}

// isRead reports whether argv changes nothing.
func isRead(argv []string) bool {
	switch verb(argv) {
	case "pool list", "peer status", "volume info", "volume get", "volume status", "volume heal info", "volume rebalance status":
		return true
	}
	return false
}

// readAnswers is how every captured answer is read, one a line, for people to
// check: name, verdict, class, reason, phase and host if any.
func readAnswers(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, a := range loadAnswers(t) {
		_, err := parse(Command{Argv: a.argv, Mutates: !isRead(a.argv)}, a.out)
		e, ok := errors.AsType[*Error](err)
		if !ok {
			t.Errorf("answer %q: read as clean", a.name)
			continue
		}
		fmt.Fprintf(&b, "%-24s %-7s %-9s %s", a.name, e.Verdict, e.Class, e.Reason)
		if e.Phase != PhaseNone {
			fmt.Fprintf(&b, " phase=%s", e.Phase)
		}
		if e.Host != "" {
			fmt.Fprintf(&b, " host=%s", e.Host)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestCapturedAnswers(t *testing.T) {
	const file = "testdata/10.3/answers.read.txt"
	got := readAnswers(t)
	if os.Getenv("REWRITE") != "" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the answers are read differently (REWRITE=1 accepts; -want +got):\n%s", diff)
	}
}
