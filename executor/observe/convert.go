package observe

import (
	"github.com/gluster/anthill/executor/gate"
	"github.com/gluster/anthill/executor/gluster"
	"github.com/gluster/anthill/planner"
)

// convert turns what a gate saw into the planner's terms.
func convert(s gate.ServerState, hello gate.Greeting) planner.Server {
	out := planner.Server{
		Gate:     planner.Gate{Installed: true, Digest: hello.Digest},
		UUID:     s.UUID,
		Peers:    s.Peers,
		Volumes:  s.Volumes,
		Glusterd: s.Glusterd.Running,
		ViewErr:  s.StateErr,
		FreeMeta: s.FreeMeta,
	}
	if o := hello.Owner; o != nil {
		out.Gate.Pool, out.Gate.Instance, out.Gate.Fence = o.Pool, o.Instance, o.Fence
	}
	for _, m := range s.Mounts {
		out.Mounts = append(out.Mounts, mount(m))
	}
	for _, b := range s.Bricks {
		out.Bricks = append(out.Bricks, planner.BrickProcess{Volume: b.Volume, Path: b.Path, PID: b.PID, Alive: b.Alive})
	}
	for _, d := range s.Devices {
		out.Devices = append(out.Devices, planner.Device{
			Name: d.Name, SizeBytes: d.SizeBytes, Holds: d.Holds, UUID: d.UUID, Label: d.Label,
			Unfinished: d.Unfinished, Mounted: d.Mounted, Error: d.Error,
		})
	}
	if len(s.State) == 0 {
		if out.ViewErr == "" {
			out.ViewErr = "glusterd gave no state"
		}
		return out
	}
	state, err := gluster.ParseState(s.State)
	if err != nil {
		out.ViewErr = err.Error()
		return out
	}
	out.UUID = state.UUID
	out.View = view(state)
	return out
}

func mount(m gate.Mount) planner.Mount {
	out := planner.Mount{Dir: m.Dir, Registered: m.Want != nil, Error: m.Error, SizeBytes: m.SizeBytes, FreeBytes: m.FreeBytes}
	if m.Want != nil {
		out.FSUUID = m.Want.FSUUID
		out.Same = m.Error == "" && m.Have != nil // the gate has compared them
	} else if m.Have != nil {
		out.FSUUID = m.Have.FSUUID
		if out.Error == "" && m.Have.Root {
			out.Error = "it is on the root file system"
		}
	}
	return out
}

func view(s *gluster.State) *planner.PoolView {
	out := &planner.PoolView{UUID: s.UUID, OpVersion: s.OpVersion, Options: s.Options}
	for _, p := range s.Peers {
		out.Peers = append(out.Peers, planner.Peer{UUID: p.UUID, Hostnames: p.Names(), State: string(p.State), Connected: p.Connected})
	}
	for _, v := range s.Volumes {
		out.Volumes = append(out.Volumes, volume(v))
	}
	out.Digest = out.Sum()
	return out
}

func volume(v gluster.StateVolume) planner.Volume {
	out := planner.Volume{
		Name: v.Name, ID: v.ID, Started: v.Status == gluster.VolumeStarted, New: v.Status == gluster.VolumeCreated,
		Replica: v.Replica, Arbiter: v.Arbiter, Disperse: v.Disperse, Redundancy: v.Redundancy,
		Options: v.Options, Snapshots: v.Snapshots,
		Rebalance: planner.Rebalance{
			TaskID: v.Rebalance.TaskID, Status: v.Rebalance.Word,
			Failures: v.Rebalance.Failures, Skipped: v.Rebalance.Skipped, Files: v.Rebalance.Lookups,
		},
	}
	for _, b := range v.Bricks {
		out.Bricks = append(out.Bricks, planner.Brick{
			PeerUUID: b.PeerUUID, Host: b.Host, Path: b.Path, Arbiter: b.Arbiter,
			Online: b.Online(), SizeBytes: b.SizeBytes, FreeBytes: b.FreeBytes,
		})
	}
	return out
}
