package steps

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/executor/gluster/sim"
	"github.com/gluster/anthill/executor/kube/kubetest"
)

// accidents happen, and most of them pass.
func (s *podSim) accidents() {
	if s.rand.IntN(5) != 0 {
		return
	}
	addrs := s.addrs()
	addr := addrs[s.rand.IntN(len(addrs))]
	srv := s.servers[addr]
	passes := s.count + 1 + s.rand.IntN(20)
	pass := func(f func()) { s.later[passes] = append(s.later[passes], f) }
	switch s.rand.IntN(7) {
	case 0, 1:
		s.mortal.arm(1+s.rand.IntN(25), s.rand.IntN(2) == 0)
	case 2:
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: srv.node + "-0"}}
		if err := s.kube.Plain().Delete(s.t.Context(), pod); err == nil {
			s.tellf("the pod of %s was evicted", srv.node)
		} else if !apierrors.IsNotFound(err) {
			s.t.Fatal(err)
		}
	case 3:
		if !srv.on || srv.down {
			return
		}
		s.tellf("glusterd of %s was killed", srv.node)
		srv.down = true
		_ = s.pool.Kill(addr)
		pass(func() { s.start(addr) })
	case 4:
		if srv.cut {
			return
		}
		s.tellf("%s was cut off", srv.node)
		srv.cut = true
		_ = s.pool.Cut(addr)
		pass(func() { s.connect(addr) })
	case 5:
		f := kubetest.Fault{Verb: []string{"create", "update", "delete"}[s.rand.IntN(3)], Err: errors.New("connection reset"), Lost: s.rand.IntN(2) == 0}
		s.tellf("the API server will fail to %s, lost %v", f.Verb, f.Lost)
		s.kube.Fail(f)
	case 6:
		s.tellf("the StatefulSet controller sleeps")
		s.kube.Overlook(true)
		pass(func() { s.kube.Overlook(false) })
	}
	s.judge()
}

func (s *podSim) start(addr string) {
	if srv := s.servers[addr]; srv.down {
		srv.down = false
		_ = s.pool.Start(addr)
	}
}

func (s *podSim) connect(addr string) {
	if srv := s.servers[addr]; srv.cut {
		srv.cut = false
		_ = s.pool.Heal(addr)
	}
}

// repair ends all accidents; people want what can be.
func (s *podSim) repair() {
	s.tellf("quiet")
	s.world.mu.Lock()
	s.image = "gluster:last"
	s.cluster.Generation++
	s.world.mu.Unlock()
	s.later = map[int][]func(){}
	for _, addr := range s.addrs() {
		s.start(addr)
		s.connect(addr)
	}
	s.kube.Overlook(false)
	if !s.mortal.died() {
		s.mortal.reborn()
	}
}

// copies are the servers that hold a copy of the volume.
func (s *podSim) copies() []string {
	var out []string
	for _, b := range s.last.Volumes["v"].Bricks {
		out = append(out, b.Host)
	}
	return out
}

// judge notes which copies count: those of servers that serve and have missed
// nothing. Clients write all the time, so who is away for a moment has missed
// something.
func (s *podSim) judge() {
	copies := s.copies()
	for _, addr := range copies {
		srv := s.servers[addr]
		away := !srv.on || srv.cut
		if away && !srv.stale {
			srv.stale, srv.heals = true, 2+s.rand.IntN(12)
		}
		switch {
		case !away && !srv.stale:
			srv.badSince = time.Time{}
		case srv.badSince.IsZero():
			srv.badSince = time.Now()
		}
	}
	stale := 0
	for _, addr := range copies {
		if s.servers[addr].stale {
			stale++
		}
	}
	for _, b := range s.last.Volumes["v"].Bricks {
		pending := stale
		if s.servers[b.Host].stale {
			pending = 0 // it does not know what it has missed
		}
		s.pool.SetHeal("v", b.Host+":"+b.Path, sim.Heal{Pending: pending})
	}
}

// heal lets copies catch up whose server is back, from one that has it all. If
// all have missed something each has what the others have not, and it takes all
// of them.
func (s *podSim) heal() {
	s.judge()
	copies := s.copies()
	up, whole := 0, 0
	for _, addr := range copies {
		if srv := s.servers[addr]; srv.on && !srv.cut && !srv.down {
			up++
			if !srv.stale {
				whole++
			}
		}
	}
	for _, addr := range copies {
		srv := s.servers[addr]
		if !srv.stale || !srv.on || srv.cut || srv.down || whole == 0 && up < len(copies) {
			continue
		}
		if srv.heals--; srv.heals <= 0 {
			srv.stale = false
		}
	}
	s.judge()
}

// deletes is called when the operator lets a pod go. Unless nothing runs in it,
// every other copy must count, and have done so when the guard looked: at most
// five seconds ago (S14).
func (s *podSim) deletes(node string) {
	s.tellf("the pod of %s is let go", node)
	copies := s.copies()
	me := addressOf(node)
	if !s.servers[me].on || !slices.Contains(copies, me) {
		return
	}
	var bad []string
	for _, addr := range copies {
		srv := s.servers[addr]
		if addr != me && !srv.badSince.IsZero() && time.Since(srv.badSince) > FreshMax {
			bad = append(bad, fmt.Sprintf("%s for %v (on %v, cut %v, stale %v)", srv.node, time.Since(srv.badSince), srv.on, srv.cut, srv.stale))
		}
	}
	if len(bad) > 0 {
		s.mortal.complainf("the pod of %s was let go while other copies did not count: %s", node, strings.Join(bad, ", "))
	}
}
