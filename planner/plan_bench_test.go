package planner

import (
	"fmt"
	"testing"

	"github.com/gluster/anthill/apis/v1alpha1"
)

// largeWorld is a converged cluster of so many nodes and about ten bricks on
// each, in volumes of 33 replica sets over seven zones.
func largeWorld(tb testing.TB, nodes int) Snapshot {
	tb.Helper()
	w := newWorld()
	w.digests = true
	for i := range nodes {
		w.addNode(fmt.Sprintf("n%04d", i), fmt.Sprintf("z%d", i%7), "/b/1", "/b/2")
	}
	for i := range nodes * 10 / 99 {
		v := &v1alpha1.GlusterVolume{ObjectMeta: w.meta(fmt.Sprintf("v%04d", i))}
		v.Spec.Layout = v1alpha1.VolumeLayout{Replicate: &v1alpha1.ReplicateLayout{Replica: 3, Sets: 33}}
		w.volumes = append(w.volumes, v)
	}
	for _, s := range w.servers {
		s.gate = Gate{Installed: true, Digest: w.digest, Pool: poolOne, Instance: w.instance, Fence: 1}
		s.member = true
		for d, m := range s.mounts {
			m.Registered, m.Same = true, true
			s.mounts[d] = m
		}
	}
	w.cluster.Status.PoolID = poolOne
	d := Plan(w.snapshot())
	if len(d.Plan) != len(w.volumes) {
		tb.Fatalf("%d plans for %d volumes", len(d.Plan), len(w.volumes))
	}
	for _, id := range w.obey(d) {
		if err := w.finish(id); err != nil {
			tb.Fatal(err)
		}
	}
	w.ended = nil
	s := shared(w)
	w.obey(Plan(s))
	o := s.Observed
	s = w.objects()
	s.Observed = o
	if d := Plan(s); len(d.Plan) > 0 || d.ReconcileVersion == nil {
		tb.Fatalf("not converged: %s", brief(d))
	}
	return s
}

// shared is a snapshot whose views share their volumes: planning asks a view
// only for its own server's bricks, and ten million of them would only show how
// slowly this test makes them. Peers are every server's own.
func shared(w *world) Snapshot {
	pooled := w.pooled
	w.pooled = nil
	s := w.snapshot()
	w.pooled = pooled
	for _, v := range pooled {
		for i := range v.Bricks {
			v.Bricks[i].Online = true
		}
	}
	digest := ""
	for name, srv := range s.Observed.Servers {
		srv.View.Volumes, srv.View.Digest = pooled, digest
		if digest == "" {
			digest = srv.View.Sum()
			srv.View.Digest = digest
		}
		for _, v := range pooled {
			srv.Volumes = append(srv.Volumes, v.Name)
		}
		s.Observed.Servers[name] = srv
	}
	return s
}

func BenchmarkPlanConverged(b *testing.B) {
	for _, nodes := range []int{100, 300, 1000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			s := largeWorld(b, nodes)
			b.ReportAllocs()
			for b.Loop() {
				Plan(s)
			}
		})
	}
}

// BenchmarkPlanAll plans all volumes of a pool at once.
func BenchmarkPlanAll(b *testing.B) {
	s := largeWorld(b, 1000)
	for name, srv := range s.Observed.Servers {
		view := *srv.View
		view.Volumes, view.Digest = nil, ""
		view.Digest = view.Sum()
		srv.View, srv.Volumes = &view, nil
		s.Observed.Servers[name] = srv
	}
	s.NewVolumeIDs = map[string]string{}
	for i := range s.Volumes {
		s.Volumes[i].Status = v1alpha1.GlusterVolumeStatus{}
		s.NewVolumeIDs[s.Volumes[i].Name] = "vid-" + s.Volumes[i].Name
	}
	b.ReportAllocs()
	for b.Loop() {
		if d := Plan(s); len(d.Plan) != len(s.Volumes) {
			b.Fatalf("%d plans", len(d.Plan))
		}
	}
}
