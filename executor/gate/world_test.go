package gate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	poolA = "11111111-1111-4111-8111-111111111111"
	poolB = "22222222-2222-4222-8222-222222222222"
)

// A world is one server in a temporary folder.
type world struct {
	t   *testing.T
	o   Options
	log string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{"glusterd/peers", "glusterd/vols", "log", "run/vols", "proc/sys/kernel/random"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, log: filepath.Join(dir, "runs")}
	w.o = Options{
		StateDir: filepath.Join(dir, "state"), GlusterdDir: filepath.Join(dir, "glusterd"),
		LogDir: filepath.Join(dir, "log"), RunDir: filepath.Join(dir, "run"),
		PIDFiles: []string{filepath.Join(dir, "run/glusterd.pid")}, ProcDir: filepath.Join(dir, "proc"),
		BinaryDir: filepath.Join(dir, "lib"), Gluster: self, Exe: self, Env: []string{"GATE_TEST_LOG=" + w.log},
	}
	w.write(filepath.Join(w.o.ProcDir, "sys/kernel/random/boot_id"), "boot-1\n")
	return w
}

func (w *world) write(path, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// process puts a process into the fake /proc.
func (w *world) process(pid int, comm string, start int, args ...string) {
	w.t.Helper()
	dir := filepath.Join(w.o.ProcDir, fmt.Sprint(pid))
	w.write(filepath.Join(dir, "stat"), fmt.Sprintf("%d (%s) S 1 2 3 %s %d 0 0", pid, comm, strings.Repeat("0 ", 15), start))
	w.write(filepath.Join(dir, "cmdline"), strings.Join(args, "\x00")+"\x00")
}

func (w *world) glusterd(pid, start int) {
	w.process(pid, "glusterd", start)
	w.write(w.o.PIDFiles[0], fmt.Sprintln(pid))
}

// do handles a request in this process, as operator op-1 of pool A.
func (w *world) do(req Request) Reply {
	w.t.Helper()
	return Handle(w.t.Context(), w.fill(req), w.o)
}

func (w *world) fill(req Request) Request {
	req.Version = ProtocolVersion
	if req.Pool == "" {
		req.Pool = poolA
	}
	if req.Instance == "" {
		req.Instance = "op-1"
	}
	if req.Fence == 0 {
		req.Fence = 1
	}
	return req
}

// must handles a request that has to succeed.
func (w *world) must(req Request) Reply {
	w.t.Helper()
	rep := w.do(req)
	if rep.Exit != ExitOK {
		w.t.Fatalf("%s: exit %d, reason %q: %s", req.Verb, rep.Exit, rep.Reason, rep.Error)
	}
	return rep
}

// refused handles a request that has to be refused.
func (w *world) refused(req Request, exit int, why Reason) Reply {
	w.t.Helper()
	rep := w.do(req)
	if rep.Exit != exit || rep.Reason != why {
		w.t.Fatalf("%s: exit %d, reason %q (%s), want exit %d, reason %q", req.Verb, rep.Exit, rep.Reason, rep.Error, exit, why)
	}
	return rep
}

func (w *world) claim() *world {
	w.t.Helper()
	w.must(Request{Verb: Claim})
	return w
}

// runs returns the lines the fake gluster noted.
func (w *world) runs() []string {
	b, err := os.ReadFile(w.log)
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}

// until waits for cond, which something else makes true.
func (w *world) until(what string, cond func() bool) {
	w.t.Helper()
	for range 2000 {
		if cond() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	w.t.Fatalf("waited in vain for %s", what)
}

func (w *world) began(do string) {
	w.t.Helper()
	w.until("the command to begin", func() bool {
		return slices.Contains(w.runs(), "begin "+do)
	})
}

// shell makes the gluster command a shell script, which has no handler of its
// own for signals: it prints before it notes its end, though nobody may listen.
func (w *world) shell() *world {
	w.t.Helper()
	path := filepath.Join(w.t.TempDir(), "gluster.sh")
	w.write(path, `#!/bin/sh
for last; do :; done
echo "begin $last" >>"$GATE_TEST_LOG"
case $last in
wait:*) while [ ! -e "${last#wait:}" ]; do sleep 0.01; done ;;
sleep:*) sleep "${last#sleep:}" ;;
esac
echo "<cliOutput/>"
echo "end $last" >>"$GATE_TEST_LOG"
`)
	if err := os.Chmod(path, 0o700); err != nil {
		w.t.Fatal(err)
	}
	w.o.Gluster = path
	return w
}

// set is the argv that makes the fake gluster do something.
func set(do string) []string {
	return []string{"gluster", "--mode=script", "--xml", "volume", "set", "v1", "user.do", do}
}

func runReq(attempt, do string) Request {
	return Request{Verb: Run, Attempt: attempt, Argv: set(do), Deadline: 20 * time.Second}
}

// spawn starts a gate as a process of its own.
func (w *world) spawn(req Request) *gateProcess {
	w.t.Helper()
	return w.spawnTo(req, nil)
}

// spawnTo starts a gate that replies to out, if not nil.
func (w *world) spawnTo(req Request, out *os.File) *gateProcess {
	w.t.Helper()
	in, err := json.Marshal(w.fill(req))
	if err != nil {
		w.t.Fatal(err)
	}
	o, err := json.Marshal(map[string]any{
		"StateDir": w.o.StateDir, "GlusterdDir": w.o.GlusterdDir, "LogDir": w.o.LogDir, "RunDir": w.o.RunDir,
		"PIDFiles": w.o.PIDFiles, "ProcDir": w.o.ProcDir, "Gluster": w.o.Gluster, "Exe": w.o.Exe, "Env": w.o.Env,
		"NodeFile": w.o.NodeFile, "BricksDir": w.o.BricksDir, "ToolDirs": w.o.ToolDirs,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	p := &gateProcess{cmd: exec.Command(w.o.Exe)}
	p.cmd.Args = []string{"gate"}
	p.cmd.Env = append(os.Environ(), "GATE_TEST_OPTIONS="+string(o))
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = bytes.NewReader(in), &p.out, os.Stderr
	if out != nil {
		p.cmd.Stdout = out
	}
	if err := p.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		_ = p.wait()
	})
	return p
}

type gateProcess struct {
	cmd  *exec.Cmd
	out  bytes.Buffer
	once sync.Once
	err  error
}

func (p *gateProcess) wait() error {
	p.once.Do(func() { p.err = p.cmd.Wait() })
	return p.err
}
