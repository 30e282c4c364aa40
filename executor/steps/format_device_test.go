package steps

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/executor/gluster/sim"
	"github.com/gluster/anthill/executor/kube"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
	"github.com/gluster/anthill/planner"
)

const (
	boxPool  = "01950000-0000-7000-8000-0000000000aa"
	fsOurs   = "0a1b2c3d-0001-4000-8000-000000000001"
	fsOther  = "0a1b2c3d-0002-4000-8000-000000000002"
	deviceIn = "/bricks/d1"
)

// prepared is a box with one pod, and an operation that makes its device ready.
func prepared(t *testing.T, seed uint64, d sim.Device) *box {
	t.Helper()
	d.Name = "d1"
	b := newBoxOf(t, seed, sim.Options{Seed: seed, Servers: []string{"s1"}, Pods: map[string][]sim.Device{"s1": {d}}})
	t.Cleanup(func() { b.stop(); _ = b.j.Close() })
	b.addNode(1)
	b.cluster.Status.PoolID = boxPool
	device := planner.DeviceParams{Node: "n1", Name: "d1", UUID: fsOurs}
	plan := journal.Plan{Kind: planner.KindPrepareNode, Scope: boxPool, Object: "GlusterNode/ns/n1", Target: "node/n1", Locks: []string{"node:n1"},
		Intent: "1", Reason: journal.Reason{Action: "test", Difference: "the pod is new"}}
	for i, s := range []struct {
		name   string
		stage  journal.Stage
		params any
	}{
		{planner.StepInstallGate, journal.Retriable, planner.NodeParams{Node: "n1"}},
		{planner.StepClaimServer, journal.Retriable, planner.ClaimParams{Node: "n1", Address: "s1"}},
		{planner.StepFormatDevice, journal.Pivot, device},
		{planner.StepMountDevice, journal.Retriable, device},
		{planner.StepRegisterDirs, journal.Retriable, planner.DirsParams{Node: "n1", Dirs: []string{deviceIn}}},
	} {
		raw, err := json.Marshal(s.params)
		if err != nil {
			t.Fatal(err)
		}
		plan.Steps = append(plan.Steps, journal.Step{ID: fmt.Sprintf("s%d", i), Name: s.name, Stage: s.stage, Params: raw})
	}
	ev, err := journal.New(journal.OpPlanned, b.id(), plan)
	if err != nil {
		t.Fatal(err)
	}
	ev.Actor = "planner"
	if _, err := b.j.Append(t.Context(), journal.Guard{}, ev); err != nil {
		t.Fatal(err)
	}
	return b
}

// ended waits until nothing is open or the operation does not move any more.
func (b *box) ended() bool {
	b.t.Helper()
	for range 2000 {
		now, err := b.state.Snapshot()
		if err != nil {
			b.t.Fatal(err)
		}
		if len(now.Open) == 0 {
			return true
		}
		if now.Open[0].State == view.Suspended {
			return false
		}
		time.Sleep(2 * time.Millisecond)
	}
	return false
}

func (b *box) pod() planner.Server {
	b.t.Helper()
	obs, err := b.world.Observed(b.t.Context(), boxPool)
	if err != nil {
		b.t.Fatal(err)
	}
	return obs.Servers["n1"]
}

func TestDeviceIsMadeReady(t *testing.T) {
	cases := map[string]struct {
		reason string
		device sim.Device
		once   int // effects of format and mount
	}{
		"Blank":      {"one that holds nothing is formatted and mounted", sim.Device{}, 2},
		"Unfinished": {"what an attempt of ours began is made to its end", sim.Device{Holds: "xfs", UUID: fsOurs, Label: "anthill", Unfinished: true}, 2},
		"Formatted":  {"what is done is adopted", sim.Device{Holds: "xfs", UUID: fsOurs, Label: "anthill"}, 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := prepared(t, 1, tc.device)
			if !b.ended() {
				t.Fatalf("%s: it does not end:\n%s", tc.reason, b.account())
			}
			v := b.pod()
			if len(v.Devices) != 1 || !v.Devices[0].Mounted || v.Devices[0].UUID != fsOurs || v.Devices[0].Unfinished {
				t.Errorf("%s: devices %+v", tc.reason, v.Devices)
			}
			if m, ok := mountOf(v, deviceIn); !ok || !m.Same {
				t.Errorf("%s: mounts %+v", tc.reason, v.Mounts)
			}
			n := 0
			for _, e := range b.pool.Effects() {
				if e.Verb == "format" || e.Verb == "mount" {
					n++
				}
			}
			if n != tc.once {
				t.Errorf("%s: %d effects, want %d", tc.reason, n, tc.once)
			}
		})
	}
}

func TestDeviceOfSomebodyElseStopsIt(t *testing.T) {
	cases := map[string]struct {
		reason string
		device sim.Device
	}{
		"Ext4":     {"somebody's files", sim.Device{Holds: "ext4"}},
		"OldXFS":   {"bricks of another life", sim.Device{Holds: "xfs", UUID: fsOther, Label: "anthill"}},
		"TornXFS":  {"what somebody else began", sim.Device{Holds: "xfs", UUID: fsOther, Label: "anthill", Unfinished: true}},
		"TooSmall": {"what no file system fits onto", sim.Device{SizeBytes: 10 << 20}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := prepared(t, 1, tc.device)
			if b.ended() {
				t.Fatalf("%s: it came to an end", tc.reason)
			}
			for _, e := range b.pool.Effects() {
				if e.Verb == "format" || e.Verb == "mount" {
					t.Errorf("%s: it had the effect %+v", tc.reason, e)
				}
			}
		})
	}
}

// However often the operator dies, the device is formatted once.
func TestDeviceSurvivesCrashes(t *testing.T) {
	for seed := range uint64(seeds()) {
		b := prepared(t, 100+seed, sim.Device{})
		for range 6 {
			time.Sleep(time.Duration(b.rand.IntN(4)) * time.Millisecond)
			b.crash()
		}
		if !b.ended() {
			t.Fatalf("seed %d: it does not end:\n%s", seed, b.account())
		}
		formats := 0
		for _, e := range b.pool.Effects() {
			if e.Verb == "format" {
				formats++
			}
		}
		if v := b.pod(); formats != 1 || !v.Devices[0].Mounted {
			t.Errorf("seed %d: formatted %d times, %+v", seed, formats, v.Devices)
		}
	}
}

func TestDeviceVerdicts(t *testing.T) {
	ours := planner.Device{Name: "d1", Holds: "xfs", UUID: fsOurs, Label: "anthill"}
	with := func(change func(d *planner.Device)) planner.Device {
		d := ours
		change(&d)
		return d
	}
	cases := map[string]struct {
		reason        string
		device        planner.Device
		format, mount executor.Verdict
	}{
		"Blank":   {"nothing is on it", planner.Device{Name: "d1"}, executor.NotDone, executor.Unseen},
		"Ours":    {"it is formatted", ours, executor.Done, executor.NotDone},
		"Mounted": {"it is mounted too", with(func(d *planner.Device) { d.Mounted = true }), executor.Done, executor.Done},
		"Torn":    {"it is formatted in part", with(func(d *planner.Device) { d.Unfinished = true }), executor.NotDone, executor.Conflict},
		"Other":   {"it is somebody else's", with(func(d *planner.Device) { d.UUID = fsOther }), executor.Conflict, executor.Conflict},
		"Hidden":  {"nobody knows what is on it", planner.Device{Name: "d1", Error: "it hangs"}, executor.Unseen, executor.Unseen},
	}
	raw, err := json.Marshal(planner.DeviceParams{Node: "n1", Name: "d1", UUID: fsOurs})
	if err != nil {
		t.Fatal(err)
	}
	turn := &executor.Turn{Op: &view.Op{Plan: journal.Plan{Scope: boxPool}}, Step: &view.Step{}, Params: raw}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := seenWorld{obs: planner.Observed{Servers: map[string]planner.Server{"n1": {Devices: []planner.Device{tc.device}}}}}
			for want, step := range map[*executor.Verdict]executor.Step{&tc.format: formatDevice{base{w}}, &tc.mount: mountDevice{base{w}}} {
				if got, err := step.Probe(t.Context(), turn); err != nil || got.Verdict != *want {
					t.Errorf("%s: %T sees %+v, %v; want %s", tc.reason, step, got, err, *want)
				}
			}
		})
	}
	w := seenWorld{obs: planner.Observed{Servers: map[string]planner.Server{"n1": {}}}}
	if _, err := (formatDevice{base{w}}).Probe(t.Context(), turn); err == nil {
		t.Error("a pod without the device: no error")
	}
}

// seenWorld is a world that looks as it is told.
type seenWorld struct {
	*boxWorld
	obs planner.Observed
}

func (w seenWorld) Of(context.Context, string) ([]kube.Server, error) { return nil, nil }

func (w seenWorld) Observed(context.Context, string) (planner.Observed, error) { return w.obs, nil }
