package rig

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gluster/anthill/test/local"
)

// An Operator is one `anthill manager` process after the other, over one
// journal.
type Operator struct {
	Binary     string
	Dir        string // journal, log and kubeconfig are here
	Kubeconfig string
	Instance   string   // default "rig/anthill"
	Args       []string // further arguments
	Env        []string // further environment

	mu      sync.Mutex
	cmd     *exec.Cmd
	done    chan struct{}
	err     error
	health  string
	metrics string
}

// Journal is the journal's file.
func (o *Operator) Journal() string { return filepath.Join(o.Dir, "journal.db") }

// LogFile has what all its processes logged.
func (o *Operator) LogFile() string { return filepath.Join(o.Dir, "operator.log") }

// Start starts a process. It returns at once; see AwaitReady.
func (o *Operator) Start() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.cmd != nil {
		select {
		case <-o.done:
		default:
			return errors.New("starting the operator: it runs")
		}
	}
	health, err := freePort()
	if err != nil {
		return err
	}
	metrics, err := freePort()
	if err != nil {
		return err
	}
	log, err := os.OpenFile(o.LogFile(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("starting the operator: %w", err)
	}
	defer log.Close()
	instance := o.Instance
	if instance == "" {
		instance = "rig/anthill"
	}
	args := append([]string{"manager", "--journal", o.Journal(), "--kubeconfig", o.Kubeconfig, "--instance", instance,
		"--health-probe-bind-address", health, "--metrics-bind-address", metrics}, o.Args...)
	cmd := exec.CommandContext(context.Background(), o.Binary, args...)
	cmd.Env = append(os.Environ(), o.Env...)
	cmd.Stdout, cmd.Stderr = log, log
	// It dies with the program that started it: nothing is left behind.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	started := make(chan error, 1)
	done := make(chan struct{})
	o.cmd, o.done, o.health, o.metrics, o.err = cmd, done, health, metrics, nil
	go func() {
		// Pdeathsig is about the thread that started it: this one stays.
		lockThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			err = cmd.Wait()
		}
		o.mu.Lock()
		o.err = err
		o.mu.Unlock()
		close(done)
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("starting the operator: %w", err)
	}
	return nil
}

// PID of the running process.
func (o *Operator) PID() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.cmd.Process.Pid
}

// AwaitReady waits until the journal is open and verified.
func (o *Operator) AwaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	last := "no answer"
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+o.health+"/readyz", nil)
		if err != nil {
			return err
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
			last = resp.Status
		}
		select {
		case <-o.done:
			return fmt.Errorf("waiting for the operator: it ended: %w\n%s", o.exit(), local.Tail(o.LogFile(), 15))
		case <-ctx.Done():
			return fmt.Errorf("waiting for the operator to be ready: %s\n%s", last, local.Tail(o.LogFile(), 15))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (o *Operator) exit() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// Running tells whether a process lives.
func (o *Operator) Running() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.cmd == nil {
		return false
	}
	select {
	case <-o.done:
		return false
	default:
		return true
	}
}

// Wait waits for the process to end by itself and returns its exit code; -1
// when a signal ended it.
func (o *Operator) Wait(ctx context.Context) (int, error) {
	select {
	case <-o.done:
	case <-ctx.Done():
		return 0, fmt.Errorf("waiting for the operator to end: %w", ctx.Err())
	}
	return o.cmd.ProcessState.ExitCode(), nil
}

// Kill ends the process with SIGKILL and returns when it is gone.
func (o *Operator) Kill() { o.end(syscall.SIGKILL) }

// Stop ends it in good order, and with SIGKILL after 20 seconds.
func (o *Operator) Stop() { o.end(syscall.SIGTERM) }

func (o *Operator) end(sig syscall.Signal) {
	if !o.Running() {
		return
	}
	_ = o.cmd.Process.Signal(sig)
	select {
	case <-o.done:
	case <-time.After(20 * time.Second):
		_ = o.cmd.Process.Kill()
		<-o.done
	}
}

// CLI runs the anthill command line against this operator's journal and
// returns its standard output; the error has what it said.
func (o *Operator) CLI(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, o.Binary, args...)
	cmd.Env = append(os.Environ(), "ANTHILL_JOURNAL="+o.Journal(), "KUBECONFIG="+o.Kubeconfig, "NO_COLOR=1")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return string(out), fmt.Errorf("anthill %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return string(out), nil
}
