package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == memoryArg {
		if err := memoryChild(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	quick := flag.Bool("quick", false, "only the figures that need no servers")
	servers := flag.Bool("servers", false, "only the figures that need servers")
	pods := flag.Bool("pods", false, "only the figures that need a Kubernetes with nodes")
	flag.Parse()
	which := parts{quick: !*servers && !*pods, servers: !*quick && !*pods, pods: !*quick && !*servers}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	b := &bench{out: os.Stdout, err: os.Stderr, began: time.Now()}
	if err := b.run(ctx, which); err != nil {
		stop()
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// A bench is one run.
type bench struct {
	out, err io.Writer
	began    time.Time
	dir      string // scratch, removed at the end
}

// parts are those of a run.
type parts struct{ quick, servers, pods bool }

func (b *bench) run(ctx context.Context, which parts) (err error) {
	b.sayf("%d processors, load %s, %s", runtime.NumCPU(), load(), runtime.Version())
	if b.dir, err = os.MkdirTemp("", "anthill-bench-"); err != nil {
		return fmt.Errorf("making a folder to measure in: %w", err)
	}
	defer os.RemoveAll(b.dir)
	var all []func(context.Context) error
	if which.quick {
		all = append(all, b.machine, b.appends, b.producers, b.steps, b.opening, b.planning)
	}
	if which.servers {
		all = append(all, b.servers)
	}
	if which.pods {
		all = append(all, b.pods)
	}
	for _, measure := range all {
		if err := measure(ctx); err != nil {
			return err
		}
	}
	b.sayf("done, load %s", load())
	return nil
}

// scratch makes a folder of its own for one measurement.
func (b *bench) scratch(name string) (string, error) {
	dir, err := os.MkdirTemp(b.dir, name+"-")
	if err != nil {
		return "", fmt.Errorf("making a folder to measure in: %w", err)
	}
	return dir, nil
}

// sayf tells what is being done, on standard error.
func (b *bench) sayf(format string, args ...any) {
	fmt.Fprintf(b.err, "%6.1fs  %s\n", time.Since(b.began).Seconds(), fmt.Sprintf(format, args...))
}

// print prints a figure.
func (b *bench) print(f figure) error {
	if _, err := fmt.Fprintln(b.out, f); err != nil {
		return fmt.Errorf("printing %s: %w", f.name, err)
	}
	return nil
}

// load is the machine's load of the last minute: who reads the figures later
// must know whether it was busy.
func load() string {
	raw, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(raw), " ")
	return first
}

// root is the checkout: the folder above the test module.
func root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; dir != "/"; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "test/kube/go.mod")); err == nil {
			return dir, nil
		}
	}
	return "", fmt.Errorf("run it from within a checkout of Anthill")
}
