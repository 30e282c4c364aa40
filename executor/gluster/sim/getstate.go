package sim

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gluster/anthill/executor/gluster"
)

// GetState is the output of gluster get-state on a server: its own view, read
// without any lock. It fails where glusterd does not answer.
func (p *Pool) GetState(server string) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.server(server)
	if s == nil || s.Away || !s.Running || s.Stopped {
		return nil, fmt.Errorf("get-state on %q: glusterd does not answer", server)
	}
	return p.getState(s), nil
}

func (p *Pool) getState(s *server) []byte {
	var b strings.Builder
	own := s.Mem.UUID
	if own == "" {
		own = zeroUUID
	}
	fmt.Fprintf(&b, "[Global]\nMYUUID: %s\nop-version: %d\n\n[Global options]\n", own, s.Mem.OpVer)
	for _, k := range slices.Sorted(maps.Keys(s.Mem.Options)) {
		fmt.Fprintf(&b, "%s: %s\n", k, s.Mem.Options[k])
	}
	b.WriteString("\n[Peers]\n")
	for i, e := range s.Mem.Peers {
		word := "Disconnected"
		if p.sees(s, e) {
			word = "Connected"
		}
		fmt.Fprintf(&b, "Peer%d.primary_hostname: %s\nPeer%[1]d.uuid: %[3]s\nPeer%[1]d.state: %[4]s\nPeer%[1]d.connected: %[5]s\nPeer%[1]d.othernames: %[6]s\n",
			i+1, e.Host, e.UUID, e.State, word, strings.Join(e.Names, ","))
	}
	b.WriteString("\n[Volumes]\n")
	for i, name := range s.Mem.names() {
		if i > 0 {
			b.WriteString("\n")
		}
		p.volumeState(&b, s, fmt.Sprintf("Volume%d.", i+1), s.Mem.Volumes[name])
	}
	if len(s.Mem.Volumes) > 0 {
		b.WriteString("\n")
	}
	b.WriteString("\n[Services]\n")
	for i, n := range []string{"bitd", "scrub", "quotad"} {
		fmt.Fprintf(&b, "svc%d.name: %s\nsvc%[1]d.online_status: Offline\n\n", i+1, n)
	}
	b.WriteString("\n[Misc]\nBase port: 49152\n")
	return []byte(b.String())
}

func (p *Pool) volumeState(b *strings.Builder, s *server, pre string, v *volume) {
	put := func(key string, value any) { fmt.Fprintf(b, "%s%s: %v\n", pre, key, value) }
	kind, _ := v.typeName()
	put("name", v.Name)
	put("id", v.ID)
	put("type", kind)
	put("transport_type", "tcp")
	put("status", v.Status)
	put("profile_enabled", 0)
	put("brickcount", len(v.Bricks))
	for i, br := range v.Bricks {
		p.brickState(s, v, br, i, func(key string, value any) { put(fmt.Sprintf("Brick%d.%s", i+1, key), value) })
	}
	put("snap_count", 0)
	put("stripe_count", 1)
	put("replica_count", v.Replica)
	put("subvol_count", v.sets())
	put("arbiter_count", v.Arbiter)
	put("disperse_count", v.Disperse)
	put("redundancy_count", v.Redundancy)
	quorum := "not_applicable"
	if v.Options["cluster.server-quorum-type"] == "server" {
		quorum = "meets"
		if p.quorumLost(s, v.Name) {
			quorum = "does_not_meet"
		}
	}
	put("quorum_status", quorum)
	put("snapd_svc.online_status", "Offline")
	put("snapd_svc.inited", "True")
	p.putTask(put, s, v)
	online, inited := "Offline", "False"
	if v.started() && v.healing() {
		online, inited = "Online", "True"
	}
	put("shd_svc.online_status", online)
	put("shd_svc.inited", inited)
	put("gsync_count", 0)
	for _, k := range slices.Sorted(maps.Keys(v.Options)) {
		put("options."+k, v.Options[k])
	}
}

func (p *Pool) brickState(s *server, v *volume, br brick, i int, put func(string, any)) {
	put("path", br)
	put("hostname", br.Host)
	if v.arbiter(i) {
		put("is_arbiter", 1)
	}
	if br.UUID != s.Mem.UUID {
		return
	}
	port, word, registered := 0, "Stopped", 0
	if pr := s.Procs[br.Path]; pr != nil {
		port = pr.Port
		registered = boolInt(!pr.Ended) // also of one that died
		if pr.Alive {
			word = "Started"
		}
	}
	_, r := s.FS.rootOf(br.Path)
	if r == nil {
		r = &root{}
	}
	put("port", port)
	put("rdma_port", 0)
	put("port_registered", registered)
	put("status", word)
	put("spacefree", fmt.Sprintf("%dBytes", r.Free))
	put("spacetotal", fmt.Sprintf("%dBytes", r.Size))
}

func (p *Pool) putTask(put func(string, any), s *server, v *volume) {
	id, word := zeroUUID, gluster.RebalanceNotStarted.String()
	var files, lookups, failures, skipped uint64
	if v.Task != nil {
		id, word = v.Task.ID, p.taskState(v, s.Mem.UUID).String()
		files, lookups, failures, skipped = p.taskCounts(v, s.Mem.UUID)
	}
	put("rebalance.id", id)
	put("rebalance.status", word)
	put("rebalance.failures", failures)
	put("rebalance.skipped", skipped)
	put("rebalance.lookedup", lookups)
	put("rebalance.files", files)
	put("rebalance.data", fmt.Sprintf("%dBytes", files*1000))
	put("time_left", 0)
}

// History is a server's cmd_history.log.
func (p *Pool) History(server string) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.server(server); s != nil {
		return append([]byte(nil), s.History...)
	}
	return nil
}
