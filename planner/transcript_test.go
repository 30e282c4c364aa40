package planner

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
)

// TestTranscripts runs the scenarios in testdata. testdata/README.md says how to
// read and write them; -rewrite puts what happens into them.
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		if !strings.HasSuffix(path, ".txt") {
			return
		}
		w := newWorld()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			run, ok := commands[d.Cmd]
			if !ok {
				t.Fatalf("%s: unknown command %q", d.Pos, d.Cmd)
			}
			out, err := run(w, args{d})
			if err != nil {
				t.Fatalf("%s: %s: %v", d.Pos, d.Cmd, err)
			}
			if out == "" {
				return "ok\n"
			}
			return shorten(out)
		})
	})
}

var opIDs = regexp.MustCompile(`00000000-0000-7000-8000-0*([0-9]+)`)

// shorten names operations op1, op2 ... as the transcripts do.
func shorten(s string) string { return opIDs.ReplaceAllString(s, "op$1") }

// args are the arguments of a command.
type args struct{ d *datadriven.TestData }

// arguments are those of a command that is not in a file.
func arguments(words ...string) args {
	d := &datadriven.TestData{}
	for _, w := range words {
		key, value, ok := strings.Cut(w, "=")
		arg := datadriven.CmdArg{Key: key}
		if ok {
			arg.Vals = []string{value}
		}
		d.CmdArgs = append(d.CmdArgs, arg)
	}
	return args{d}
}

func (a args) all(key string) []string {
	for _, arg := range a.d.CmdArgs {
		if arg.Key == key {
			return arg.Vals
		}
	}
	return nil
}

func (a args) has(key string) bool {
	return slices.ContainsFunc(a.d.CmdArgs, func(arg datadriven.CmdArg) bool { return arg.Key == key })
}

func (a args) one(key string) string {
	if v := a.all(key); len(v) > 0 {
		return v[0]
	}
	return ""
}

func (a args) number(key string, otherwise int) (int, error) {
	if !a.has(key) {
		return otherwise, nil
	}
	return strconv.Atoi(a.one(key))
}

func (a args) pairs(key string) map[string]string {
	out := map[string]string{}
	for _, p := range a.all(key) {
		if k, v, ok := strings.Cut(p, ":"); ok {
			out[k] = v
		}
	}
	return out
}

// first is the argument without a value: what the command is about.
func (a args) first() string {
	if len(a.d.CmdArgs) > 0 && len(a.d.CmdArgs[0].Vals) == 0 {
		return a.d.CmdArgs[0].Key
	}
	return ""
}

func (a args) ops(w *world) ([]journal.OpID, error) {
	var out []journal.OpID
	for _, arg := range a.d.CmdArgs {
		if arg.Key == "all" {
			for i := range w.open {
				out = append(out, w.open[i].ID)
			}
			return out, nil
		}
		before := len(out)
		for i := range w.open {
			if len(arg.Vals) == 0 && w.open[i].Plan.Target == arg.Key {
				out = append(out, w.open[i].ID)
			}
		}
		if len(out) > before {
			continue
		}
		n, ok := strings.CutPrefix(arg.Key, "op")
		if len(arg.Vals) == 0 && !ok && arg.Key != "end" {
			return nil, fmt.Errorf("no operation on %s is open", arg.Key)
		}
		if len(arg.Vals) > 0 || arg.Key == "end" {
			continue
		}
		k, err := strconv.Atoi(n)
		if err != nil || w.op(opID(k)) == nil {
			return nil, fmt.Errorf("operation %s is not open", arg.Key)
		}
		out = append(out, opID(k))
	}
	return out, nil
}

type command func(*world, args) (string, error)

var commands map[string]command

func init() {
	commands = map[string]command{
		"cluster": doCluster, "nodes": doNodes, "volume": doVolume, "delete": doDelete,
		"server": doServer, "mount": doMount, "gluster": doGluster, "operator": doOperator,
		"plan": doPlan, "settle": doSettle, "conditions": doConditions, "status": doStatus,
		"start": doStart, "suspend": doSuspend, "finish": doFinish, "cancelled": doCancelled, "abandon": doAbandon, "retry": doRetry, "newer": doNewer,
	}
}

func doCluster(w *world, a args) (string, error) {
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
		s.uuid = a.one("uuid")
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
	for k, v := range a.pairs("setAll") {
		w.options[k] = v
	}
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
