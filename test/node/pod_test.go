package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gluster/anthill/executor/gate"
	"github.com/gluster/anthill/executor/node/probe"
	"github.com/gluster/anthill/test/local"
	"github.com/gluster/anthill/test/loop"
)

const (
	poolID = "01950000-0000-7000-8000-000000000001"
	bricks = "/bricks/d1"
)

// A pod is a container on a server: namespaces of its own for processes and
// mounts, everything else the server's. Its state is on the server's disk and
// outlives it, as on a volume.
type pod struct {
	t      *testing.T
	s      *local.Server
	n      int
	image  string
	device string // on the host
	hold   *os.File

	cmd   *exec.Cmd
	log   *bytes.Buffer
	first int // its first process, as the host sees it
	ended chan error
}

// newPod ends the server's own glusterd and makes the device.
func newPod(t *testing.T, w *world, s *local.Server) *pod {
	t.Helper()
	p := &pod{t: t, s: s, n: int(s.Key()[1] - '0'), image: filepath.Join(s.Dir(), "d1.img")}
	ctx, cancel := context.WithTimeout(t.Context(), slow)
	defer cancel()
	p.must(s.StopGlusterd(ctx))
	for _, dir := range []string{"var/lib/glusterd/vols", "var/lib/glusterd/peers", "var/lib/anthill"} {
		p.must(os.RemoveAll(filepath.Join(s.Root(), dir)))
	}
	for _, f := range []string{"var/lib/glusterd/glusterd.info"} {
		_ = os.Remove(filepath.Join(s.Root(), f))
	}
	p.must(os.MkdirAll(filepath.Join(s.Root(), "var/lib/anthill"), 0o700))
	data, err := os.ReadFile(w.binary)
	p.must(err)
	p.must(os.WriteFile(filepath.Join(s.Root(), "root/anthill"), data, 0o755))
	f, err := os.Create(p.image)
	p.must(err)
	p.must(errors.Join(f.Truncate(400<<20), f.Close()))
	p.device, p.hold, err = loop.Attach(p.image)
	p.must(err)
	t.Cleanup(func() {
		if p.cmd != nil {
			p.kill()
		}
		_ = unix.IoctlSetInt(int(p.hold.Fd()), unix.LOOP_CLR_FD, 0)
		p.hold.Close()
		_ = os.Remove(p.image)
	})
	return p
}

func (p *pod) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatalf("%s: %v", p.s.Key(), err)
	}
}

// container is constant: what a container's runtime does before it starts the
// first process. Arguments: major and minor of the device, or nothing.
const container = `set -e
mount --make-rprivate /
mount -t proc proc /proc
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/lock /dev/anthill
rm -f /dev/anthill/d1
[ -z "$1" ] || mknod /dev/anthill/d1 b "$1" "$2"
shift 2
exec /root/anthill node run "$@"
`

// start starts the container. Without device there is no file for it yet.
func (p *pod) start(device bool, args ...string) {
	p.t.Helper()
	major, minor := "", ""
	if device {
		major, minor = p.numbers()
	}
	argv := append([]string{
		"unshare", "--pid", "--mount", "--fork", "--kill-child", "sh", "-c", container, "container", major, minor, "--storage", "d1=/dev/anthill/d1",
	}, args...)
	p.cmd = p.s.Command(context.WithoutCancel(p.t.Context()), argv...)
	p.log = &bytes.Buffer{}
	out, err := os.Create(filepath.Join(p.s.Dir(), "pod.log"))
	p.must(err)
	p.cmd.Stdout, p.cmd.Stderr = out, out
	p.must(p.cmd.Start())
	out.Close()
	cmd, ended := p.cmd, make(chan error, 1)
	p.ended = ended
	go func() { ended <- cmd.Wait() }()
	until(p.t, "the container runs", func() error {
		select {
		case err := <-ended:
			p.t.Fatalf("%s: the container ended: %v\n%s", p.s.Key(), err, p.said())
		default:
		}
		p.first = p.cmd.Process.Pid
		for range 2 { // nsenter, unshare, the first process
			if p.first = childOf(p.first); p.first == 0 {
				return errors.New("it does not")
			}
		}
		if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", p.first)); err != nil || filepath.Base(exe) != "anthill" {
			return fmt.Errorf("the first process is %s", exe)
		}
		return nil
	})
}

func (p *pod) numbers() (major, minor string) {
	var st unix.Stat_t
	p.must(unix.Stat(p.device, &st))
	return strconv.Itoa(int(unix.Major(st.Rdev))), strconv.Itoa(int(unix.Minor(st.Rdev)))
}

// said is what the first process logged.
func (p *pod) said() string {
	b, _ := os.ReadFile(filepath.Join(p.s.Dir(), "pod.log"))
	return string(b)
}

// signal sends a signal to the first process.
func (p *pod) signal(sig syscall.Signal) { p.must(syscall.Kill(p.first, sig)) }

// wait waits for the end of the container, and returns its exit code.
func (p *pod) wait() int {
	p.t.Helper()
	select {
	case err := <-p.ended:
		p.cmd = nil
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			return exit.ExitCode()
		}
		p.must(err)
		return 0
	case <-time.After(slow):
		p.t.Fatalf("%s: the container does not end:\n%s", p.s.Key(), p.said())
		return -1
	}
}

// kill ends the container as a power cut does.
func (p *pod) kill() {
	if p.first != 0 {
		_ = syscall.Kill(p.first, syscall.SIGKILL)
	}
	select {
	case <-p.ended:
	case <-time.After(slow):
		p.t.Errorf("%s: the container outlives SIGKILL", p.s.Key())
	}
	p.cmd = nil
}

// command runs something in the container, as pods/exec does.
func (p *pod) command(ctx context.Context, argv ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "nsenter", append([]string{"-t", strconv.Itoa(p.first), "-m", "-u", "-i", "-n", "-p", "--"}, argv...)...)
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", "HOME=/root"}
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

func (p *pod) exec(argv ...string) (string, error) {
	ctx, cancel := context.WithTimeout(p.t.Context(), slow)
	defer cancel()
	out, err := p.command(ctx, argv...).CombinedOutput()
	return string(out), err
}

// gluster runs the gluster command, which has to succeed.
func (p *pod) gluster(args ...string) string {
	p.t.Helper()
	out, err := p.exec(append([]string{"gluster", "--mode=script"}, args...)...)
	if err != nil {
		p.t.Fatalf("%s: gluster %v: %v: %s\n%s", p.s.Key(), args, err, out, p.said())
	}
	return out
}

// ready asks as a kubelet does.
func (p *pod) ready() error {
	ctx, cancel := context.WithTimeout(p.t.Context(), 2*probe.Timeout)
	defer cancel()
	url := "http://" + net.JoinHostPort(p.s.IP(), strconv.Itoa(probe.ReadyPort)) + probe.ReadyPath
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	if resp.StatusCode != http.StatusOK {
		return errors.Join(fmt.Errorf("%s: %s", resp.Status, said), err)
	}
	return err
}

// alive carries the liveness probe out.
func (p *pod) alive() error {
	out, err := p.exec("/root/anthill", "node", probe.Verb)
	if err != nil {
		return fmt.Errorf("node %s: %w: %s", probe.Verb, err, out)
	}
	return nil
}

// Do implements gate.Transport.
func (p *pod) Do(ctx context.Context, req gate.Request) (gate.Reply, error) {
	in, err := json.Marshal(req)
	if err != nil {
		return gate.Reply{}, err
	}
	cmd := p.command(ctx, "/root/anthill", "node", "gate")
	cmd.Stdin = bytes.NewReader(in)
	out, _ := cmd.Output()
	return gate.Decode(bytes.NewReader(out))
}

// gate is the operator's side of the pod's gate.
func (p *pod) gate() *gate.Client { return gate.NewClient(p, poolID, "op", func() uint64 { return 1 }) }

// uuid of the file system of its device.
func (p *pod) uuid() string { return fmt.Sprintf("0a1b2c3d-000%d-4000-8000-000000000001", p.n) }

// seen is what the gate observes.
func (p *pod) seen() gate.ServerState {
	p.t.Helper()
	st, _, err := p.gate().Observe(p.t.Context())
	p.must(err)
	return st
}

// brickPID is the process of its brick, 0 if there is none.
func (p *pod) brickPID() int {
	st, _, err := p.gate().Observe(p.t.Context())
	if err != nil {
		return 0
	}
	for _, b := range st.Bricks {
		if b.Alive {
			return b.PID
		}
	}
	return 0
}

// A proc is a process of the container, as the host sees it.
type proc struct {
	pid   int
	comm  string
	state string
}

// processes lists what is in the container, zombies too.
func (p *pod) processes() []proc {
	p.t.Helper()
	ns, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", p.first))
	p.must(err)
	var out []proc
	for _, one := range allProcesses() {
		// A zombie has no namespaces to look at any more, but a parent.
		own, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", one.pid))
		if own == ns || err != nil && one.parent == p.first {
			out = append(out, one.proc)
		}
	}
	return out
}

// find returns the processes with this name.
func (p *pod) find(comm string) (out []proc) {
	p.t.Helper()
	for _, one := range p.processes() {
		if one.comm == comm && one.state != "Z" {
			out = append(out, one)
		}
	}
	return out
}

type procWithParent struct {
	proc
	parent int
}

func allProcesses() (out []procWithParent) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		b, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil {
			continue
		}
		open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
		f := strings.Fields(string(b[end+1:]))
		parent, _ := strconv.Atoi(f[1])
		out = append(out, procWithParent{proc{pid, string(b[open+1 : end]), f[0]}, parent})
	}
	return out
}

func childOf(pid int) int {
	for _, p := range allProcesses() {
		if p.parent == pid {
			return p.pid
		}
	}
	return 0
}
