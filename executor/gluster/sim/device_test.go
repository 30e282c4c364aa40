package sim

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"golang.org/x/sys/unix"

	"github.com/gluster/anthill/executor/gate"
)

// Of this process alone: the kernel mounts no two XFS with the same UUID, and
// other packages' tests mount theirs at the same time.
var fsOurs, fsOther = uuid.NewString(), uuid.NewString()

// A pod is a server with a device b1, simulated or real.
type pod struct {
	ask     func(gate.Request) gate.Reply
	restart func()
	put     func(holds, uuid, label string, unfinished bool)
}

// deviceScript is what is asked of both, and what both must answer: a reason
// for a refusal, else what is on the device then.
var deviceScript = []struct {
	do   string // format, mount, restart, or what is put onto the device
	uuid string
	want string
}{
	{"format", fsOurs, "xfs ours anthill"},
	{"format", fsOurs, "xfs ours anthill"},
	{"format", fsOther, "refused: device"},
	{"mount", fsOther, "refused: device"},
	{"mount", fsOurs, "xfs ours anthill mounted"},
	{"mount", fsOurs, "xfs ours anthill mounted"},
	{"format", fsOurs, "xfs ours anthill mounted"},
	{"restart", "", "xfs ours anthill mounted"},
	{"nothing", "", "error"},
	{"restart", "", "error"},
	{"format", fsOther, "refused: device"},
	{"format", fsOurs, "refused: device"},
	{"mount", fsOurs, "refused: device"},
	{"other", fsOther, "xfs other anthill error"},
	{"mount", fsOther, "refused: device"},
	{"forget", "", "xfs other anthill"},
	{"mount", fsOurs, "refused: device"},
	{"format", fsOurs, "refused: device"},
	{"mount", fsOther, "xfs other anthill mounted"},
	{"forget", "", "xfs other anthill mounted"},
	{"restart", "", "xfs other anthill"},
	{"ext4", "", "ext4"},
	{"format", fsOurs, "refused: device"},
	{"mount", fsOurs, "refused: device"},
	{"torn", fsOther, "xfs other anthill unfinished"},
	{"format", fsOurs, "refused: device"},
	{"mount", fsOther, "refused: device"},
	{"format", fsOther, "xfs other anthill"},
	{"named", fsOurs, "xfs ours mine error"},
	{"forget", "", "xfs ours mine"},
	{"format", fsOurs, "refused: device"},
	{"mount", fsOurs, "refused: device"},
}

func (p *pod) play(t *testing.T, forget func()) {
	t.Helper()
	for i, step := range deviceScript {
		verb := map[string]gate.Verb{"format": gate.FormatDevice, "mount": gate.MountDevice}[step.do]
		var d *gate.Device
		switch step.do {
		case "format", "mount":
			rep := p.ask(gate.Request{Verb: verb, Attempt: fmt.Sprintf("a%d", i), Device: &gate.DeviceRef{Name: "b1", UUID: step.uuid}})
			if rep.Exit != gate.ExitOK {
				if got := "refused: " + string(rep.Reason); got != step.want {
					t.Errorf("%d: %s %s: %s (%s), want %s", i, step.do, step.uuid, got, rep.Error, step.want)
				}
				continue
			}
			d = rep.Device
		case "restart":
			p.restart()
		case "forget":
			forget()
		case "nothing":
			p.put("", "", "", false)
		case "ext4":
			p.put("ext4", "", "", false)
		case "named":
			p.put("xfs", step.uuid, "mine", false)
		default:
			p.put("xfs", step.uuid, "anthill", step.do == "torn")
		}
		seen := p.ask(gate.Request{Verb: gate.Observe}).State.Devices[0]
		if d == nil {
			d = &seen
		}
		if a, b := summary(*d), summary(seen); a != step.want || b != step.want {
			t.Errorf("%d: %s %s: %q, observed %q (%s), want %q", i, step.do, step.uuid, a, b, seen.Error, step.want)
		}
	}
}

func summary(d gate.Device) string {
	out := []string{d.Holds}
	switch d.UUID {
	case fsOurs:
		out = append(out, "ours")
	case fsOther:
		out = append(out, "other")
	}
	if d.Holds == "xfs" {
		out = append(out, d.Label)
	}
	if d.Unfinished {
		out = append(out, "unfinished")
	}
	if d.Mounted {
		out = append(out, "mounted")
	}
	if d.Error != "" {
		out = append(out, "error")
	}
	return strings.TrimSpace(strings.Join(out, " "))
}

func TestDevicesOfThePool(t *testing.T) {
	p := New(Options{Servers: []string{"s1"}, Gates: true, Pods: map[string][]Device{"s1": {{Name: "b1"}}}})
	if _, err := client(p, "s1", "op", 5).Claim(t.Context(), gate.ClaimMode{Fresh: true}); err != nil {
		t.Fatal(err)
	}
	(&pod{
		ask: func(r gate.Request) gate.Reply {
			r.Version, r.Pool, r.Instance, r.Fence = gate.ProtocolVersion, poolID, "op", 5
			rep, _ := p.Handle(t.Context(), "s1", r)
			return rep
		},
		restart: func() {
			if err := p.RestartPod("s1"); err != nil {
				t.Fatal(err)
			}
		},
		put: func(holds, uuid, label string, unfinished bool) {
			if err := p.SetDevice("s1", Device{Name: "b1", Holds: holds, UUID: uuid, Label: label, Unfinished: unfinished}); err != nil {
				t.Fatal(err)
			}
		},
	}).play(t, func() { p.server("s1").Gate.Devices = nil })
	if n := len(p.Effects()); n != 4 {
		t.Errorf("%d effects, want two formats and two mounts", n)
	}
}

// The real gate, on a real device, answers as the simulated one does.
func TestDevicesOfTheGate(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting needs root")
	}
	run := func(argv ...string) string {
		out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v: %s", argv, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	dir := t.TempDir()
	image := filepath.Join(dir, "image")
	run("truncate", "-s", "400M", image)
	dev := run("losetup", "--find", "--show", image)
	t.Cleanup(func() { run("losetup", "-d", dev) })
	o := gate.Options{
		StateDir: filepath.Join(dir, "state"), GlusterdDir: dir, LogDir: dir, RunDir: dir, PIDFiles: []string{filepath.Join(dir, "pid")},
		BinaryDir: filepath.Join(dir, "lib"), NodeFile: filepath.Join(dir, "node.json"), BricksDir: filepath.Join(dir, "bricks"),
	}
	s := gate.Storage{Name: "b1", Device: dev}
	at := gate.Dir(o, s)
	unmount := func() { _ = unix.Unmount(at, 0) }
	t.Cleanup(unmount)
	if err := gate.WriteTold(o, []gate.Storage{s}); err != nil {
		t.Fatal(err)
	}
	ask := func(r gate.Request) gate.Reply {
		r.Version, r.Pool, r.Instance, r.Fence = gate.ProtocolVersion, poolID, "op", 5
		return gate.Handle(t.Context(), r, o)
	}
	if rep := ask(gate.Request{Verb: gate.Claim}); rep.Exit != gate.ExitOK {
		t.Fatal(rep.Error)
	}
	(&pod{
		ask: ask,
		restart: func() {
			unmount()
			_, _ = gate.Attach(t.Context(), o, s, 0)
		},
		put: func(holds, uuid, label string, unfinished bool) {
			unmount()
			run("wipefs", "-q", "-a", dev)
			switch holds {
			case "ext4":
				run("mkfs.ext4", "-q", dev)
			case "xfs":
				run("mkfs.xfs", "-q", "-K", "-L", label, "-m", "uuid="+uuid, dev)
			}
			if unfinished {
				run("xfs_db", "-x", "-c", "sb 0", "-c", "write inprogress 1", dev)
			}
		},
	}).play(t, func() {
		if err := os.RemoveAll(filepath.Join(o.StateDir, "devices")); err != nil {
			t.Fatal(err)
		}
	})
}

// A pod that is replaced comes back with its bricks; what was never mounted by
// us, or is no longer what it was, stays away, and so do its bricks.
func TestRestartedPod(t *testing.T) {
	p := New(Options{Servers: []string{"s1", "s2"}, Gates: true, Pods: map[string][]Device{"s1": {{Name: "b1"}}, "s2": nil}})
	c := client(p, "s1", "op", 5)
	if _, err := c.Claim(t.Context(), gate.ClaimMode{Fresh: true}); err != nil {
		t.Fatal(err)
	}
	for _, do := range []func() error{
		func() error {
			_, err := c.FormatDevice(t.Context(), "f", 0, gate.DeviceRef{Name: "b1", UUID: fsOurs})
			return err
		},
		func() error {
			_, err := c.MountDevice(t.Context(), "m", 0, gate.DeviceRef{Name: "b1", UUID: fsOurs})
			return err
		},
		func() error { _, err := c.Register(t.Context(), "r", 0, "/bricks/b1"); return err },
		func() error {
			_, err := c.MakeBrick(t.Context(), "b", 0, gate.BrickPath{Root: "/bricks/b1", Volume: "v", Leaf: "0-0-0"})
			return err
		},
	} {
		if err := do(); err != nil {
			t.Fatal(err)
		}
	}
	ok(t, p, "s1", []string{"gluster", "--mode=script", "--xml", "volume", "create", "v", "s1:/bricks/b1/v/0-0-0/brick"})
	ok(t, p, "s1", []string{"gluster", "--mode=script", "--xml", "volume", "start", "v"})
	alive := func() bool {
		st, _, err := c.Observe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(st.Bricks, func(b gate.Brick) bool { return b.Alive })
	}
	if err := p.RestartPod("s1"); err != nil || !alive() {
		t.Errorf("after a restart: %v, the brick runs: %t", err, alive())
	}
	saved, err := p.Save()
	if err != nil || !json.Valid(saved) {
		t.Fatal(err)
	}
	if p, err = Load(Options{}, saved); err != nil {
		t.Fatal(err)
	}
	c = client(p, "s1", "op", 5)
	if err := p.SetDevice("s1", Device{Name: "b1", Holds: "xfs", UUID: fsOther, Label: "anthill"}); err != nil {
		t.Fatal(err)
	}
	if err := p.RestartPod("s1"); err != nil || alive() {
		t.Errorf("with another disk: %v, the brick runs: %t", err, alive())
	}
}
