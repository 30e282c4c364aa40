package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/planner"
)

// A pool is a cluster of joined servers as the planner sees it, without
// anything behind it.
type pool struct {
	cluster v1alpha1.GlusterCluster
	nodes   []v1alpha1.GlusterNode
	volumes []v1alpha1.GlusterVolume
	there   []planner.Volume // what gluster has of them
	outside map[string]bool  // servers that are ready but no peers yet
	uuids   map[string]string
}

const (
	poolID     = "5a1f0bd6-94a9-4f29-a4c1-6c1f4b3d8e01"
	poolDigest = "0000000000000000000000000000000000000000000000000000000000000000"
	poolOwner  = "bench/anthill"
)

// newPool has so many nodes in seven zones, two brick directories each.
func newPool(nodes int) *pool {
	p := &pool{outside: map[string]bool{}, uuids: map[string]string{}}
	p.cluster.ObjectMeta = meta("cluster", 0)
	p.cluster.Status.PoolID = poolID
	for i := range nodes {
		n := v1alpha1.GlusterNode{ObjectMeta: meta(fmt.Sprintf("node-%04d", i), i+1)}
		n.Spec = v1alpha1.GlusterNodeSpec{Cluster: p.cluster.Name, Zone: fmt.Sprintf("zone-%d", i%7)}
		n.Spec.External = &v1alpha1.ExternalServer{Address: n.Name + ".storage.example", BrickDirs: []v1alpha1.BrickDir{"/bricks/b1", "/bricks/b2"}}
		p.nodes = append(p.nodes, n)
		p.uuids[n.Name] = fmt.Sprintf("7c0f5b1e-0000-4000-8000-%012d", i)
	}
	return p
}

func meta(name string, n int) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: "storage", Generation: 1, UID: "uid",
		CreationTimestamp: metav1.NewTime(time.Unix(int64(1+n)*60, 0))}
}

// declare adds volumes of so many replica sets of three.
func (p *pool) declare(volumes, sets int) {
	for range volumes {
		v := v1alpha1.GlusterVolume{ObjectMeta: meta(fmt.Sprintf("volume-%04d", len(p.volumes)), 0)}
		v.Spec.Cluster = p.cluster.Name
		v.Spec.Layout.Replicate = &v1alpha1.ReplicateLayout{Replica: 3, Sets: int32(sets)}
		p.volumes = append(p.volumes, v)
	}
}

// snapshot is what a cycle of the planner gets. Views of servers share their
// volumes, as they do where they agree.
func (p *pool) snapshot() planner.Snapshot {
	s := planner.Snapshot{
		Cluster: &p.cluster, Nodes: p.nodes, Volumes: p.volumes, Instance: poolOwner,
		NewVolumeIDs: map[string]string{},
		Observed:     planner.Observed{Servers: map[string]planner.Server{}, GateDigest: poolDigest},
	}
	for _, v := range p.volumes {
		if v.Status.VolumeID == "" {
			s.NewVolumeIDs[v.Name] = "3f7d0c52-0000-4000-8000-" + fmt.Sprintf("%012s", v.Name[len("volume-"):])
		}
	}
	var names []string
	for _, v := range p.there {
		names = append(names, v.Name)
	}
	digest := ""
	for i := range p.nodes {
		srv := p.server(&p.nodes[i])
		if !p.outside[p.nodes[i].Name] {
			srv.Volumes, srv.View.Volumes = names, p.there
			if digest == "" {
				digest = srv.View.Sum()
			}
			srv.View.Digest = digest
		}
		s.Observed.Servers[p.nodes[i].Name] = srv
	}
	return s
}

// server is what one server says, but for volumes.
func (p *pool) server(n *v1alpha1.GlusterNode) planner.Server {
	srv := planner.Server{
		Gate: planner.Gate{Installed: true, Digest: poolDigest, Pool: poolID, Instance: poolOwner, Fence: 1},
		UUID: p.uuids[n.Name], Glusterd: true, FreeMeta: 1 << 30,
		View: &planner.PoolView{UUID: p.uuids[n.Name], OpVersion: 100000, Options: map[string]string{}},
	}
	for _, d := range n.BrickDirs() {
		srv.Mounts = append(srv.Mounts, planner.Mount{Dir: string(d), Registered: true, Same: true,
			FSUUID: "fs-" + n.Name + string(d), SizeBytes: 100 << 30, FreeBytes: 90 << 30})
	}
	if p.outside[n.Name] {
		return srv
	}
	for i := range p.nodes {
		other := &p.nodes[i]
		if other == n || p.outside[other.Name] {
			continue
		}
		srv.Peers = append(srv.Peers, p.uuids[other.Name])
		srv.View.Peers = append(srv.View.Peers, planner.Peer{UUID: p.uuids[other.Name],
			Hostnames: []string{other.Address()}, State: planner.PeerInCluster, Connected: true})
	}
	return srv
}

// obey makes true what the plans of a decision are to make true of volumes, and
// returns how many plans there were.
func (p *pool) obey(d planner.Decision) (_ int, err error) {
	for i := range p.volumes {
		v := &p.volumes[i]
		if id := d.VolumeIDs[v.Name]; id != "" {
			v.Status.VolumeID = id
		}
	}
	for _, plan := range d.Plan {
		var end planner.EndState
		if err := json.Unmarshal(plan.Plan.EndState, &end); err != nil {
			return 0, fmt.Errorf("reading the end state of %s: %w", plan.Plan.Kind, err)
		}
		if end.Volume == nil {
			continue
		}
		if end.Volume.Bricks, err = bricksOf(&plan.Plan); err != nil {
			return 0, err
		}
		p.endVolume(end)
	}
	for i := range p.volumes {
		v := &p.volumes[i]
		v.Status.GlusterID = d.Volumes[v.Name].GlusterID
	}
	return len(d.Plan), nil
}

// bricksOf are the bricks that a plan makes.
func bricksOf(p *journal.Plan) ([]planner.BrickRef, error) {
	for _, s := range p.Steps {
		if s.Name != planner.StepMakeBricks {
			continue
		}
		var b planner.BricksParams
		if err := json.Unmarshal(s.Params, &b); err != nil {
			return nil, fmt.Errorf("reading the bricks of %s: %w", p.Kind, err)
		}
		return b.Bricks, nil
	}
	return nil, nil
}

func (p *pool) endVolume(end planner.EndState) {
	v := end.Volume
	at := slices.IndexFunc(p.there, func(have planner.Volume) bool { return have.Name == v.Name })
	if at < 0 {
		at = len(p.there)
		p.there = append(p.there, planner.Volume{Name: v.Name, ID: "gluster-id-of-" + v.Name, Started: true, Replica: 3,
			Options: map[string]string{planner.Marker: v.VolumeID}})
	}
	have := &p.there[at]
	maps.Copy(have.Options, end.Set)
	for _, b := range v.Bricks {
		have.Bricks = append(have.Bricks, planner.Brick{PeerUUID: b.UUID, Host: b.Address, Path: b.Path(v.VolumeID),
			Arbiter: b.Arbiter, Online: true, SizeBytes: 100 << 30, FreeBytes: 90 << 30})
	}
}
