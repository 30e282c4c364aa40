package node

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// asReaper makes this test process adopt orphans, as a first process does, and
// reap until the test ends.
func asReaper(t *testing.T) *reaper {
	t.Helper()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	r := newReaper()
	// It outlives the test's context, so that clean-ups can wait for children.
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.run(ctx)
	}()
	t.Cleanup(func() { cancel(); <-done })
	return r
}

func shell(t *testing.T, script string) []string {
	t.Helper()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	return []string{sh, "-c", script}
}

func TestReaperTellsHowAChildEnded(t *testing.T) {
	r := asReaper(t)
	cases := map[string]struct{ reason, script, want string }{
		"Exit":   {"it ended by itself", "exit 7", "exit code 7"},
		"Signal": {"a signal ended it", "kill -9 $$", "signal 9 (killed)"},
		"Well":   {"it ended well", ":", "exit code 0"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for range 20 { // it may end before it is known
				c, err := r.start(shell(t, tc.script))
				if err != nil {
					t.Fatal(err)
				}
				select {
				case <-c.ended:
				case <-time.After(20 * time.Second):
					t.Fatal("it was not reaped")
				}
				if got := describe(c.status); got != tc.want {
					t.Errorf("%s: %s, want %s", tc.reason, got, tc.want)
				}
				if err := r.signal(c, syscall.SIGKILL); err != nil {
					t.Errorf("%s: a signal to one that is gone: %v", tc.reason, err)
				}
			}
		})
	}
	if _, err := r.start([]string{"/does/not/exist"}); err == nil {
		t.Error("a program that is not there was started")
	}
}

func TestReaperTakesOrphans(t *testing.T) {
	r := asReaper(t)
	c, err := r.start(shell(t, "i=0; while [ $i -lt 50 ]; do (sh -c 'sleep 0.01' &); i=$((i+1)); done"))
	if err != nil {
		t.Fatal(err)
	}
	<-c.ended
	until(t, "all children to be reaped", func() bool {
		b, err := os.ReadFile("/proc/self/task/" + strings.TrimSpace(mainThread(t)) + "/children")
		return err == nil && len(strings.Fields(string(b))) == 0
	})
}

func mainThread(t *testing.T) string {
	t.Helper()
	link, err := os.Readlink("/proc/self")
	if err != nil {
		t.Fatal(err)
	}
	return link
}
