package node

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// kept runs a keeper over a script until the test ends.
func kept(t *testing.T, script string, backoff time.Duration) (*keeper, *atomic.Int32) {
	t.Helper()
	var prepared atomic.Int32
	o := Options{Glusterd: shell(t, script), BackoffMin: backoff, BackoffMax: 4 * backoff}.withDefaults()
	k := &keeper{o: o, reaper: asReaper(t), prepare: func() { prepared.Add(1) }}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		k.keep(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		if c := k.running(); c != nil {
			_ = k.reaper.signal(c, syscall.SIGKILL)
			<-c.ended
		}
	})
	return k, &prepared
}

func starts(file string) int {
	b, _ := os.ReadFile(file)
	return strings.Count(string(b), "\n")
}

func TestKeeperStartsAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "starts")
	_, prepared := kept(t, "echo x >>"+file, time.Millisecond)
	until(t, "five starts", func() bool { return starts(file) >= 5 })
	if n := prepared.Load(); n < 5 {
		t.Errorf("prepared %d times", n)
	}
}

func TestKeeperBacksOff(t *testing.T) {
	file := filepath.Join(t.TempDir(), "starts")
	kept(t, "echo x >>"+file, time.Hour)
	until(t, "the first start", func() bool { return starts(file) == 1 })
	time.Sleep(50 * time.Millisecond)
	if n := starts(file); n != 1 {
		t.Errorf("%d starts without a pause", n)
	}
}

func TestRestart(t *testing.T) {
	cases := map[string]struct{ reason, script string }{
		"Obedient": {"it ends when it is asked", "echo x >>$F; exec sleep 60"},
		"Deaf":     {"it is killed when it does not", "echo x >>$F; trap '' TERM; while :; do sleep 0.05; done"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "starts")
			k, _ := kept(t, strings.ReplaceAll(tc.script, "$F", file), time.Hour)
			until(t, "the first start", func() bool { return starts(file) == 1 && k.running() != nil })
			if err := k.restart(t.Context(), 100*time.Millisecond); err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			until(t, "another one, at once", func() bool { return starts(file) == 2 })
		})
	}
}
