package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/gluster/anthill/journal"
)

// memoryArg makes this program its own child: it opens the journal named next
// and prints by how many KiB its anonymous memory grew.
const memoryArg = "--memory-of"

// memoryTarget is what the whole operator may take, in MiB.
const memoryTarget = 40

// memory measures the anonymous memory that an open journal keeps, in a process
// of its own: nothing else has grown that heap. Pages of the mapped file do not
// count, the kernel takes them back whenever it wants.
func (b *bench) memory(ctx context.Context, path string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("measuring memory: %w", err)
	}
	var all []float64
	for range 3 {
		out, err := exec.CommandContext(ctx, self, memoryArg, path).Output()
		if err != nil {
			return fmt.Errorf("measuring memory: %w", err)
		}
		kib, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
		if err != nil {
			return fmt.Errorf("measuring memory: %w", err)
		}
		all = append(all, kib/1024)
	}
	return b.print(figure{
		name: "journal-memory-100k-events", value: median(all), unit: "MiB",
		target: target{relation: atMost, limit: memoryTarget},
	})
}

// memoryChild prints what opening the journal at path adds to this process.
func memoryChild(path string) error {
	before, err := anonymous(os.Getpid())
	if err != nil {
		return err
	}
	j, err := journal.Open(context.Background(), path, journal.Options{})
	if err != nil {
		return err
	}
	after, err := anonymous(os.Getpid())
	if err != nil {
		return err
	}
	fmt.Println(after - before)
	return j.Close()
}

// anonymous is the anonymous memory of a process in KiB.
func anonymous(pid int) (int, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("reading the memory of process %d: %w", pid, err)
	}
	return rssAnon(string(raw))
}

// rssAnon reads the line of /proc/PID/status.
func rssAnon(status string) (int, error) {
	for line := range strings.Lines(status) {
		if v, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			kib, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(v), "kB")))
			if err != nil {
				return 0, fmt.Errorf("reading %q: %w", strings.TrimSpace(line), err)
			}
			return kib, nil
		}
	}
	return 0, fmt.Errorf("the status has no line RssAnon")
}
