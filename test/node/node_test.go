package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gluster/anthill/executor/gate"
)

// TestPods is the life of three pods; each part begins where the last one ended.
func TestPods(t *testing.T) {
	all := pods(t)
	p := all[0]
	for _, p := range all {
		p.start(true)
	}
	for _, p := range all {
		until(t, "the pod is ready", p.ready)
		if err := p.alive(); err != nil {
			t.Error(err)
		}
	}
	part := func(name string, f func(t *testing.T)) {
		t.Helper()
		ok := t.Run(name, func(t *testing.T) {
			for _, p := range all {
				p.t = t
			}
			f(t)
		})
		for _, p := range all {
			p.t = t
		}
		if !ok {
			for _, p := range all {
				t.Logf("%s said:\n%s", p.s.Key(), p.said())
			}
			t.FailNow()
		}
	}
	part("DevicesAreMadeReady", func(t *testing.T) { makeReady(t, all) })
	part("VolumeServes", func(t *testing.T) { makeVolume(t, all) })
	part("LogsAreAppendedTo", func(t *testing.T) { appendLogs(t, p) })
	part("ReadyWhileATransactionHangs", func(t *testing.T) { readyWhileHanging(t, all) })
	part("KilledGlusterdComesBack", func(t *testing.T) { killGlusterd(t, p) })
	part("OrphansAreReaped", func(t *testing.T) { reapOrphans(t, p) })
	part("KilledDaemonIsNoZombie", func(t *testing.T) { killHeal(t, all) })
	part("OnlyTheFirstProcess", func(t *testing.T) { refuseSecond(t, p) })
	part("StopsInGoodOrder", func(t *testing.T) { stop(t, all) })
	part("ComesBackByItself", func(t *testing.T) { comeBack(t, p) })
	part("PowerLoss", func(t *testing.T) { losePower(t, all) })
	part("OwnNameComesLate", func(t *testing.T) { nameLate(t, p) })
	part("DeviceComesLate", func(t *testing.T) { deviceLate(t, p) })
	part("AnotherDiskIsLeftAlone", func(t *testing.T) { otherDisk(t, p) })
}

func makeReady(t *testing.T, all []*pod) {
	for _, p := range all {
		c, ref := p.gate(), gate.DeviceRef{Name: "d1", UUID: p.uuid()}
		if _, err := c.Claim(t.Context(), gate.ClaimMode{Fresh: true}); err != nil {
			t.Fatal(err)
		}
		if d := p.seen().Devices; len(d) != 1 || d[0].Holds != "" || d[0].Mounted || d[0].Error != "" {
			t.Errorf("new device: %+v", d)
		}
		d, err := c.FormatDevice(t.Context(), "f1", time.Minute, ref)
		if err != nil || d.UUID != p.uuid() {
			t.Fatalf("formatting: %+v, %v", d, err)
		}
		if d, err = c.MountDevice(t.Context(), "m1", time.Minute, ref); err != nil || !d.Mounted {
			t.Fatalf("mounting: %+v, %v", d, err)
		}
		if _, err := c.Register(t.Context(), "r1", time.Minute, bricks); err != nil {
			t.Fatal(err)
		}
		if _, err := c.MakeBrick(t.Context(), "b1", time.Minute, gate.BrickPath{Root: bricks, Volume: "v", Leaf: "0-0-0"}); err != nil {
			t.Fatal(err)
		}
	}
	// On the server around it, which is no pod, nothing of that is done.
	rep, err := gate.Decode(strings.NewReader(gateOnServer(t, all[0])))
	if err != nil || rep.Reason != gate.ReasonNotPod {
		t.Errorf("on a server: %+v, %v", rep, err)
	}
}

// gateOnServer asks the gate outside of the container to format.
func gateOnServer(t *testing.T, p *pod) string {
	t.Helper()
	req := fmt.Sprintf(`{"version":1,"verb":"format","pool":%q,"instance":"op","fence":1,"attempt":"x1","device":{"name":"d1","uuid":%q}}`, poolID, p.uuid())
	cmd := p.s.Command(t.Context(), "/root/anthill", "node", "gate")
	cmd.Stdin = strings.NewReader(req)
	out, _ := cmd.Output()
	return string(out)
}

func makeVolume(t *testing.T, all []*pod) {
	p := all[0]
	for _, o := range all[1:] {
		p.gluster("peer", "probe", o.s.Name())
	}
	until(t, "all peers are connected", func() error {
		for _, p := range all {
			if out := p.gluster("pool", "list"); strings.Count(out, "Connected") != len(all) {
				return errors.New(out)
			}
		}
		return nil
	})
	create := []string{"volume", "create", "v", "replica", "3"}
	for _, o := range all {
		create = append(create, o.s.Name()+":"+bricks+"/v/0-0-0/brick")
	}
	until(t, "the volume is made", func() error { // a peer that just joined refuses for a moment (LAB-2)
		out, err := p.exec(append([]string{"gluster", "--mode=script"}, create...)...)
		if err != nil && !strings.Contains(out, "already exists") {
			return errors.New(out)
		}
		return nil
	})
	p.gluster("volume", "start", "v")
	online(t, all)
}

// online waits until every brick of these pods runs and glusterd says so.
func online(t *testing.T, all []*pod) {
	t.Helper()
	for _, p := range all {
		until(t, "the brick of "+p.s.Key()+" is online", func() error {
			if p.brickPID() == 0 {
				return errors.New("it does not run")
			}
			out, err := p.exec("gluster", "--mode=script", "--xml", "volume", "status", "v", p.s.Name()+":"+bricks+"/v/0-0-0/brick")
			if err != nil || !strings.Contains(out, "<status>1</status>") {
				return fmt.Errorf("%w: %s", err, out)
			}
			return nil
		})
	}
}

// Logs are cut under the daemons that write them, which must go on at the end.
func appendLogs(t *testing.T, p *pod) {
	seen := 0
	for _, one := range p.processes() {
		if !strings.HasPrefix(one.comm, "gluster") {
			continue
		}
		fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", one.pid))
		p.must(err)
		for _, fd := range fds {
			to, err := os.Readlink(fd)
			if err != nil || !strings.HasPrefix(to, "/var/log/glusterfs/") || !strings.HasSuffix(to, ".log") {
				continue
			}
			info, err := os.ReadFile(strings.Replace(fd, "/fd/", "/fdinfo/", 1))
			p.must(err)
			_, rest, _ := strings.Cut(string(info), "flags:")
			flags, err := strconv.ParseInt(strings.Fields(rest)[0], 8, 64)
			p.must(err)
			if seen++; flags&unix.O_APPEND == 0 {
				t.Errorf("%s does not append to %s", one.comm, to)
			}
		}
	}
	if seen < 3 {
		t.Errorf("%d logs were seen", seen)
	}
}

func readyWhileHanging(t *testing.T, all []*pod) {
	p, other := all[0], all[1]
	stopped := other.find("glusterd")
	if len(stopped) != 1 {
		t.Fatalf("glusterd: %v", stopped)
	}
	other.must(syscall.Kill(stopped[0].pid, syscall.SIGSTOP))
	ctx, cancel := context.WithTimeout(t.Context(), slow)
	defer cancel()
	hanging := p.command(ctx, "gluster", "--mode=script", "volume", "set", "v", "user.anthill.test", "1")
	p.must(hanging.Start())
	time.Sleep(2 * time.Second) // it has taken its locks by then
	begun := time.Now()
	for range 5 {
		for _, ask := range []func() error{p.ready, p.alive} {
			if err := ask(); err != nil {
				t.Errorf("while a transaction hangs: %v", err)
			}
		}
	}
	t.Logf("a probe took %v", time.Since(begun)/10)
	if hanging.ProcessState != nil || syscall.Kill(hanging.Process.Pid, 0) != nil {
		t.Error("the transaction does not hang: the test shows nothing")
	}
	if err := other.ready(); err == nil {
		t.Error("a glusterd that is stopped counts as ready")
	}
	if err := other.alive(); err != nil {
		t.Errorf("a stopped glusterd ends the pod: %v", err)
	}
	other.must(syscall.Kill(stopped[0].pid, syscall.SIGCONT))
	_ = hanging.Wait()
	until(t, "it is ready again", other.ready)
}

func killGlusterd(t *testing.T, p *pod) {
	before := p.find("glusterd")
	brick := p.brickPID()
	for range 3 {
		now := p.find("glusterd")
		if len(now) != 1 {
			t.Fatalf("glusterd: %v", now)
		}
		p.must(syscall.Kill(now[0].pid, syscall.SIGKILL))
		until(t, "another glusterd is ready", func() error {
			if again := p.find("glusterd"); len(again) != 1 || again[0] == now[0] {
				return fmt.Errorf("glusterd: %v", again)
			}
			return p.ready()
		})
		if now := p.brickPID(); now != brick || brick == 0 {
			t.Errorf("the brick was process %d, and is %d", brick, now)
		}
	}
	online(t, []*pod{p})
	if now := p.brickPID(); now != brick {
		t.Errorf("the brick was process %d, and is %d", brick, now)
	}
	if now := p.find("glusterd"); now[0] == before[0] {
		t.Error("it is the same glusterd")
	}
}

func reapOrphans(t *testing.T, p *pod) {
	before := len(p.processes())
	const script = `i=0; while [ $i -lt 200 ]; do (sh -c 'sleep 0.$1' x $((i % 9 + 1)) &) ; i=$((i+1)); done`
	if out, err := p.exec("sh", "-c", script); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	until(t, "all orphans are gone", func() error {
		now := p.processes()
		for _, one := range now {
			if one.state == "Z" || one.comm == "sleep" {
				return fmt.Errorf("%v", one)
			}
		}
		if len(now) > before {
			return fmt.Errorf("%d processes, there were %d", len(now), before)
		}
		return nil
	})
}

// A self-heal daemon that was killed must not stay as a zombie, which glusterd
// takes for running (LAB-4).
func killHeal(t *testing.T, all []*pod) {
	p := all[0]
	for _, one := range p.find("glusterfs") {
		p.must(syscall.Kill(one.pid, syscall.SIGKILL))
	}
	until(t, "nothing of it is left", func() error {
		for _, one := range p.processes() {
			if one.state == "Z" {
				return fmt.Errorf("%v", one)
			}
		}
		return nil
	})
	p.gluster("volume", "start", "v", "force") // by hand: what the operator will do one day
	p.gluster("volume", "set", "v", "user.anthill.test", "2")
	until(t, "the self-heal daemon runs again", func() error {
		if len(p.find("glusterfs")) == 0 {
			return errors.New("it does not")
		}
		return nil
	})
}

func refuseSecond(t *testing.T, p *pod) {
	out, err := p.exec("/root/anthill", "node", "run")
	if err == nil || !strings.Contains(out, "first process") {
		t.Errorf("a second one: %v: %s", err, out)
	}
	if err := p.alive(); err != nil {
		t.Error(err)
	}
}

// port is the TCP port of the brick.
func (p *pod) port() string {
	p.t.Helper()
	out := p.gluster("--xml", "volume", "status", "v", p.s.Name()+":"+bricks+"/v/0-0-0/brick")
	_, rest, _ := strings.Cut(out, "<tcp>")
	port, _, _ := strings.Cut(rest, "</tcp>")
	if _, err := strconv.Atoi(port); err != nil {
		p.t.Fatalf("port of the brick: %s", out)
	}
	return net.JoinHostPort(p.s.IP(), port)
}

func listening(addr string) error {
	conn, err := net.DialTimeout("tcp", addr, 5*time.Second)
	if err == nil {
		conn.Close()
	}
	return err
}

const content = "what was written before the pod was stopped\n"

func stop(t *testing.T, all []*pod) {
	p := all[0]
	p.must(os.WriteFile(fmt.Sprintf("/proc/%d/root%s/mark", p.first, bricks), []byte(content), 0o600))
	port := p.port()
	if err := listening(port); err != nil {
		t.Fatalf("the brick does not listen: %v", err)
	}
	// Somebody's shell must not keep the file system, nor something that hangs.
	deaf := p.command(t.Context(), "sh", "-c", "cd "+bricks+"; trap '' TERM; while :; do sleep 1; done")
	p.must(deaf.Start())
	until(t, "the shell is in the folder", func() error {
		for _, one := range p.find("sh") {
			if at, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", one.pid)); err == nil && strings.HasSuffix(at, bricks) {
				return nil
			}
		}
		return errors.New("it is not")
	})
	begun := time.Now()
	p.signal(syscall.SIGTERM)
	p.signal(syscall.SIGTERM) // impatience changes nothing
	closed := time.Duration(0)
	for closed == 0 && time.Since(begun) < slow {
		if listening(port) != nil {
			closed = time.Since(begun)
		}
		time.Sleep(20 * time.Millisecond)
	}
	code := p.wait()
	took := time.Since(begun)
	t.Logf("socket closed after %v, ended with %d after %v", closed, code, took)
	if code != 0 || took > 30*time.Second {
		t.Errorf("exit code %d after %v:\n%s", code, took, p.said())
	}
	_ = deaf.Wait()
	if !strings.Contains(p.said(), `"unmounted"`) {
		t.Errorf("it was not unmounted:\n%s", p.said())
	}
	// Nobody uses the device any more, and nothing has to be recovered.
	fd, err := unix.Open(p.device, unix.O_RDONLY|unix.O_EXCL, 0)
	if err != nil {
		t.Errorf("the device: %v", err)
	}
	unix.Close(fd)
	out := all[1].gluster("pool", "list")
	if !strings.Contains(out, "Disconnected") {
		t.Errorf("the others: %s", out)
	}
}

func comeBack(t *testing.T, p *pod) {
	p.start(true)
	until(t, "the pod is ready", p.ready)
	// glusterd logs what it runs with.
	log, err := os.ReadFile(fmt.Sprintf("/proc/%d/root/var/log/glusterfs/glusterd.log", p.first))
	p.must(err)
	if !strings.Contains(string(log), "option transport.tcp-user-timeout 42") {
		t.Error("a dead connection to another server lasts until glusterd's frame timeout")
	}
	online(t, []*pod{p})
	d := p.seen().Devices[0]
	if !d.Mounted || d.UUID != p.uuid() || d.Recorded != p.uuid() {
		t.Errorf("device: %+v", d)
	}
	if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/root%s/mark", p.first, bricks)); err != nil || string(b) != content {
		t.Errorf("%q, %v", b, err)
	}
}

func losePower(t *testing.T, all []*pod) {
	for _, p := range all {
		p.kill()
	}
	for _, p := range all {
		p.start(true)
	}
	online(t, all)
	for _, p := range all {
		if out := p.gluster("pool", "list"); strings.Count(out, "Connected") != len(all) {
			t.Errorf("%s: %s", p.s.Key(), out)
		}
	}
}

// The name of a pod resolves a moment after the pod runs.
func nameLate(t *testing.T, p *pod) {
	p.kill()
	hosts, err := os.ReadFile(filepath.Join(p.s.Root(), "etc/hosts"))
	p.must(err)
	var without []string
	for line := range strings.Lines(string(hosts)) {
		if !strings.Contains(line, p.s.Name()) {
			without = append(without, strings.TrimSpace(line))
		}
	}
	p.must(p.s.SetHosts(without...))
	defer func() { p.must(p.s.SetHosts()) }()
	p.start(true)
	until(t, "it waits for the name", func() error {
		if !strings.Contains(p.said(), "does not resolve") {
			return errors.New(p.said())
		}
		return nil
	})
	if err := p.alive(); err != nil {
		t.Errorf("while it waits: %v", err)
	}
	if g := p.find("glusterd"); len(g) > 0 {
		t.Errorf("glusterd was started: %v", g)
	}
	p.must(p.s.SetHosts())
	online(t, []*pod{p})
}

// A disk that comes late is mounted when it comes, and its bricks are started.
func deviceLate(t *testing.T, p *pod) {
	p.signal(syscall.SIGTERM)
	p.wait()
	p.start(false)
	until(t, "glusterd serves without it", p.ready)
	if p.brickPID() != 0 {
		t.Error("the brick runs without its file system")
	}
	if d := p.seen().Devices[0]; d.Error == "" {
		t.Errorf("device: %+v", d)
	}
	major, minor := p.numbers()
	if out, err := p.exec("mknod", "/dev/anthill/d1", "b", major, minor); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	online(t, []*pod{p})
}

// What is not the file system this node made is neither mounted nor formatted,
// and glusterd puts no brick onto the folder.
func otherDisk(t *testing.T, p *pod) {
	p.signal(syscall.SIGTERM)
	p.wait()
	if _, err := unix.FcntlInt(p.hold.Fd(), unix.F_GETFD, 0); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(p.device, os.O_WRONLY, 0)
	p.must(err)
	_, err = f.WriteAt(make([]byte, 1<<20), 0) // erased
	p.must(errors.Join(err, f.Sync(), f.Close()))
	p.start(true)
	until(t, "glusterd serves without it", p.ready)
	d := p.seen().Devices[0]
	if d.Mounted || !strings.Contains(d.Error, "erased") {
		t.Errorf("device: %+v", d)
	}
	_, err = p.gate().FormatDevice(t.Context(), "f9", time.Minute, gate.DeviceRef{Name: "d1", UUID: p.uuid()})
	if dev, ok := errors.AsType[*gate.DeviceError](err); !ok || dev.Device.Recorded != p.uuid() {
		t.Errorf("formatting it: %v", err)
	}
	if _, err := p.gate().MakeBrick(t.Context(), "b9", time.Minute, gate.BrickPath{Root: bricks, Volume: "w", Leaf: "0-0-0"}); err == nil {
		t.Error("a brick was made on the bare folder")
	}
	time.Sleep(2 * time.Second)
	if p.brickPID() != 0 {
		t.Error("the brick runs on the bare folder")
	}
	if entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/root%s", p.first, bricks)); err != nil || len(entries) > 0 {
		t.Errorf("on the bare folder: %v, %v", entries, err)
	}
}
