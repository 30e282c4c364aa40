package planner

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
)

type command func(*world, args) (string, error)

var commands map[string]command

func init() {
	commands = map[string]command{
		"cluster": doCluster, "nodes": doNodes, "volume": doVolume, "delete": doDelete,
		"server": doServer, "mount": doMount, "gluster": doGluster, "operator": doOperator,
		"plan": doPlan, "settle": doSettle, "conditions": doConditions, "status": doStatus,
		"start": doStart, "suspend": doSuspend, "finish": doFinish, "cancelled": doCancelled, "abandon": doAbandon, "retry": doRetry, "newer": doNewer,
		"template": doTemplate, "pod": doPod, "kubernetes": doKubernetes,
	}
}

func doCluster(w *world, a args) (string, error) {
	if w.cluster == nil { // somebody creates it again
		w.cluster = &v1alpha1.GlusterCluster{ObjectMeta: w.meta("c1")}
		w.ended = nil
	}
	c := w.cluster
	c.Generation++
	c.Spec.Paused = a.has("paused")
	if a.has("options") {
		c.Spec.ClusterOptions = options(a)
	}
	if a.has("version") {
		n, err := a.number("version", 0)
		if err != nil {
			return "", err
		}
		v := int32(n)
		c.Status.ReconcileVersion = &v
	}
	if a.has("policy") {
		c.Spec.DeletionPolicy = v1alpha1.DeletionPolicy(a.one("policy"))
	}
	if a.has("confirm") {
		c.Annotations = map[string]string{v1alpha1.AnnotationConfirmDelete: a.one("confirm")}
	}
	if a.has("anchor") {
		c.Status.Anchor = &v1alpha1.Anchor{Instance: a.one("anchor")}
	}
	if a.has("takeOver") {
		c.Annotations = map[string]string{v1alpha1.AnnotationTakeOver: a.one("takeOver")}
	}
	if a.has("forgotten") {
		c.Status = v1alpha1.GlusterClusterStatus{}
		for _, n := range w.nodes {
			n.Status = v1alpha1.GlusterNodeStatus{}
		}
		for _, v := range w.volumes {
			v.Status = v1alpha1.GlusterVolumeStatus{}
		}
		w.open, w.ended = nil, nil
	}
	return "", nil
}

func options(a args) map[string]v1alpha1.OptionValue {
	out := map[string]v1alpha1.OptionValue{}
	for k, v := range a.pairs("options") {
		out[k] = v1alpha1.OptionValue(v)
	}
	return out
}

func doNodes(w *world, a args) (string, error) {
	dirs := a.all("dirs")
	if dirs == nil {
		dirs = []string{"/bricks/1"}
	}
	zones := a.all("zones")
	i := 0
	for _, arg := range a.d.CmdArgs {
		if len(arg.Vals) > 0 || arg.Key == "dirs" || arg.Key == "zones" {
			continue
		}
		if n := w.node(arg.Key); n != nil {
			n.Generation++
			w.addDirs(arg.Key, dirs...)
			continue
		}
		zone := ""
		if i < len(zones) {
			zone = zones[i]
		}
		i++
		kept := w.servers[arg.Key]
		w.addNode(arg.Key, zone, dirs...)
		if kept != nil {
			w.servers[arg.Key] = kept // the same server, named anew
		}
		if a.has("address") {
			w.node(arg.Key).Spec.External.Address = a.one("address")
		}
	}
	return "", nil
}

func doVolume(w *world, a args) (string, error) {
	v := w.volume(a.first())
	if v == nil {
		v = &v1alpha1.GlusterVolume{ObjectMeta: w.meta(a.first())}
		v.Spec.Cluster = w.cluster.Name
		w.volumes = append(w.volumes, v)
	} else {
		v.Generation++
	}
	sets, err := a.number("sets", 1)
	if err != nil {
		return "", err
	}
	n := map[string]int32{}
	for _, key := range []string{"replica", "arbiter", "data", "redundancy", "bricks"} {
		k, err := a.number(key, 0)
		if err != nil {
			return "", err
		}
		n[key] = int32(k)
	}
	switch {
	case a.has("replica"):
		v.Spec.Layout = v1alpha1.VolumeLayout{Replicate: &v1alpha1.ReplicateLayout{Replica: n["replica"], Arbiter: n["arbiter"], Sets: int32(sets)}}
	case a.has("data"):
		v.Spec.Layout = v1alpha1.VolumeLayout{Disperse: &v1alpha1.DisperseLayout{Data: n["data"], Redundancy: n["redundancy"], Sets: int32(sets)}}
	case a.has("bricks"):
		v.Spec.Layout = v1alpha1.VolumeLayout{Distribute: &v1alpha1.DistributeLayout{Bricks: n["bricks"]}}
	case a.has("sets") && v.Spec.Layout.Replicate != nil:
		v.Spec.Layout.Replicate.Sets = int32(sets)
	}
	if a.has("options") {
		v.Spec.Options = options(a)
	}
	v.Spec.AllowUnknownOptions = a.has("allowUnknown")
	if a.has("zones") {
		v.Spec.Zones = a.all("zones")
	}
	return "", nil
}

func doDelete(w *world, a args) (string, error) {
	now := metav1.NewTime(time.Unix(1, 0))
	var o *metav1.ObjectMeta
	switch kind, name, _ := strings.Cut(a.first(), "/"); kind {
	case "cluster":
		o = &w.cluster.ObjectMeta
	case "node":
		o = &w.node(name).ObjectMeta
	case "volume":
		o = &w.volume(name).ObjectMeta
	default:
		return "", fmt.Errorf("cannot delete %q", a.first())
	}
	if a.has("confirm") {
		o.Annotations = map[string]string{v1alpha1.AnnotationConfirmDelete: a.one("confirm")}
	}
	if a.has("unconfirm") {
		o.Annotations = nil
	}
	if a.has("gone") {
		w.remove(map[string]string{"node": "GlusterNode", "volume": "GlusterVolume"}[strings.Split(a.first(), "/")[0]] + "/" + o.Name)
		return "", nil
	}
	o.DeletionTimestamp = &now
	return "", nil
}

func doServer(w *world, a args) (string, error) {
	s := w.servers[a.first()]
	if s == nil {
		return "", fmt.Errorf("no server %q", a.first())
	}
	if a.has("up") {
		s.unreachable, s.down, s.cut = "", false, false
	}
	if a.has("unreachable") {
		s.unreachable, s.message = a.one("unreachable"), strings.TrimSpace(a.d.Input)
	}
	s.down, s.cut = s.down || a.has("down"), s.cut || a.has("cut")
	if a.has("uuid") {
		if s.was == "" && s.member {
			s.was = s.uuid
		}
		s.uuid = strings.TrimPrefix(a.one("uuid"), "none")
	}
	if a.has("gate") {
		s.gate.Installed, s.gate.Digest = a.one("gate") != "none", a.one("gate")
	}
	if a.has("pool") {
		s.gate.Installed, s.gate.Digest = true, w.digest
		s.gate.Pool, s.gate.Instance = strings.TrimPrefix(a.one("pool"), "none"), a.one("instance")
	}
	if a.has("peers") {
		s.peers = a.all("peers")
	}
	if a.has("volumes") {
		s.vols = a.all("volumes")
	}
	if a.has("hides") {
		s.hides[a.one("hides")] = true
	}
	for uuid, state := range a.pairs("sees") {
		s.state[uuid] = strings.ReplaceAll(state, "_", " ")
	}
	if a.has("fresh") {
		s.peers, s.vols, s.hides, s.state, s.member = nil, nil, map[string]bool{}, map[string]string{}, false
	}
	return "", nil
}

func doMount(w *world, a args) (string, error) {
	node, dir, _ := strings.Cut(a.first(), ":")
	m := w.servers[node].mounts[dir]
	m.Error = strings.TrimSpace(a.d.Input)
	if m.Registered {
		m.Same = !a.has("other") && m.Error == ""
	}
	if a.has("gib") {
		n, err := a.number("gib", 0)
		if err != nil {
			return "", err
		}
		m.SizeBytes = uint64(n) << 30
	}
	w.servers[node].mounts[dir] = m
	return "", nil
}

// doGluster is somebody at a gluster prompt.
func doGluster(w *world, a args) (string, error) {
	if a.first() == "peer" {
		w.strange = append(w.strange, Peer{UUID: a.one("uuid"), Hostnames: []string{a.one("name")}, State: PeerInCluster, Connected: true})
		return "", nil
	}
	maps.Copy(w.options, a.pairs("setAll"))
	if !a.has("volume") {
		return "", nil
	}
	name := a.one("volume")
	at := slices.IndexFunc(w.pooled, func(v Volume) bool { return v.Name == name })
	if at < 0 {
		w.pooled = append(w.pooled, Volume{Name: name, ID: "gid-" + name, Started: true, Replica: 1, Options: map[string]string{}})
		at = len(w.pooled) - 1
	}
	v := &w.pooled[at]
	switch {
	case a.has("delete"):
		w.pooled = slices.Delete(w.pooled, at, at+1)
		return "", nil
	case a.has("stop"):
		v.Started = false
	case a.has("unstarted"):
		v.Started, v.New = false, true
	}
	maps.Copy(v.Options, a.pairs("set"))
	for _, k := range a.all("reset") {
		delete(v.Options, k)
	}
	for _, b := range a.all("add") {
		node, path, _ := strings.Cut(b, ":")
		v.Bricks = append(v.Bricks, Brick{PeerUUID: w.servers[node].uuid, Host: node + ".example", Path: path})
	}
	for _, b := range a.all("kill") {
		node, set, _ := strings.Cut(b, ":")
		for _, brick := range v.Bricks {
			if brick.PeerUUID == w.servers[node].uuid && (set == "" || strings.Contains(brick.Path, "/"+set+"-")) {
				w.servers[node].dead[brick.Path] = true
			}
		}
	}
	for _, node := range a.all("zombie") {
		for _, brick := range v.Bricks {
			if s := w.servers[node]; brick.PeerUUID == s.uuid {
				s.zombies = append(s.zombies, brick.Path)
			}
		}
	}
	if a.has("snapshots") {
		n, err := a.number("snapshots", 0)
		if err != nil {
			return "", err
		}
		v.Snapshots = n
	}
	if a.has("rebalance") {
		v.Rebalance = Rebalance{TaskID: "task", Status: "completed", Failures: 2, Skipped: 1}
	}
	return "", nil
}

func doOperator(w *world, a args) (string, error) {
	if a.has("gate") {
		w.digest = a.one("gate")
	}
	if a.has("instance") {
		w.instance = a.one("instance")
	}
	w.fence = strings.TrimSpace(a.d.Input)
	for node, by := range a.pairs("claims") {
		w.claims[node+".example"] = by
	}
	for node, at := range a.pairs("claimedAt") {
		n, err := strconv.Atoi(at)
		if err != nil {
			return "", err
		}
		w.claimedAt[node+".example"] = time.Unix(int64(n)*60, 0)
	}
	for v, n := range a.pairs("heals") {
		pending, err := strconv.Atoi(n)
		w.heals[v] = Heal{Known: err == nil || n == "split", Pending: pending}
		if n == "split" {
			w.heals[v] = Heal{Known: true, Pending: 1, SplitBrain: 1}
		}
	}
	if a.has("restarted") {
		w.ended = nil
	}
	return "", nil
}

func doStart(w *world, a args) (string, error) {
	ids, err := a.ops(w)
	for _, id := range ids {
		if err == nil {
			err = w.start(id, a.one("step"))
		}
	}
	return "", err
}

func doSuspend(w *world, a args) (string, error) {
	ids, err := a.ops(w)
	for _, id := range ids {
		op := w.op(id)
		op.State = view.Suspended
		op.Suspended = &journal.Suspended{Cause: a.one("cause"), Message: strings.TrimSpace(a.d.Input), Next: "anthill journal retry " + id.String()}
	}
	return "", err
}

func doFinish(w *world, a args) (string, error) {
	ids, err := a.ops(w)
	for _, id := range ids {
		if err == nil {
			err = w.finish(id)
		}
	}
	return "", err
}

func doCancelled(w *world, a args) (string, error) {
	ids, err := a.ops(w)
	for _, id := range ids {
		w.end(id, view.Cancelled)
	}
	return "", err
}

func doAbandon(w *world, a args) (string, error) {
	ids, err := a.ops(w)
	for _, id := range ids {
		op := w.end(id, view.Abandoned)
		w.tombstones[op.Plan.Intent] = view.Tombstone{Intent: op.Plan.Intent, Op: id, Generation: op.Plan.Reason.Generation, Reason: strings.TrimSpace(a.d.Input)}
	}
	return "", err
}

// doNewer makes an operation one that a newer version has written.
func doNewer(w *world, a args) (string, error) {
	ids, err := a.ops(w)
	for _, id := range ids {
		op := w.op(id)
		if a.has("event") {
			op.Alien = a.one("event")
		}
		if a.has("end") {
			op.Plan.EndState = []byte(`{"moon":true}`)
		}
	}
	return "", err
}

func doRetry(w *world, _ args) (string, error) {
	w.tombstones = map[string]view.Tombstone{}
	return "", nil
}
