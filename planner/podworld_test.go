package planner

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"pgregory.net/rapid"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
)

// What a world has of pods. It is in servers of nodes that are pods.
type truePod struct {
	Pod
	devices map[string]*Device // by storage entry
	has     map[string]bool    // the directories that the pod that runs was made with
}

// addPod makes a node that is a pod, with its server.
func (w *world) addPod(n *v1alpha1.GlusterNode) {
	w.nodes = append(w.nodes, n)
	if w.servers[n.Name] == nil {
		w.servers[n.Name] = &server{mounts: map[string]Mount{}, hides: map[string]bool{}, state: map[string]string{}, dead: map[string]bool{}}
	}
	s := w.servers[n.Name]
	if s.pod == nil {
		s.pod = &truePod{devices: map[string]*Device{}, Pod: Pod{Claims: map[string]ClaimView{}}}
	}
	for i := range n.Spec.Storage {
		w.addDir(n, i)
	}
}

// addDir gives a node what its server has below an entry of its storage.
func (w *world) addDir(n *v1alpha1.GlusterNode, i int) {
	s, st := w.servers[n.Name], &n.Spec.Storage[i]
	dir := string(st.Dir())
	if w.isDevice(n, st) {
		if s.pod.devices[st.Name] == nil {
			s.pod.devices[st.Name] = &Device{Name: st.Name, SizeBytes: 100 << 30}
		}
		return
	}
	if _, there := s.mounts[dir]; !there {
		s.mounts[dir] = Mount{Dir: dir, FSUUID: "fs-" + n.Name + dir, SizeBytes: 100 << 30, FreeBytes: 90 << 30}
	}
}

func (w *world) isDevice(n *v1alpha1.GlusterNode, st *v1alpha1.Storage) bool {
	t := (&cycle{cluster: w.cluster}).templateOf(&node{cr: n})
	return st.Device != "" || t != nil && t.Storage.VolumeMode != nil && *t.Storage.VolumeMode == corev1.PersistentVolumeBlock
}

// podSays is what is seen of a pod, beside what its server says.
func (s *server) podSays(out Server) Server {
	if s.pod == nil {
		return out
	}
	p := s.pod.Pod
	if !p.Running {
		reason := p.Reason
		if reason == "" {
			reason = v1alpha1.ReasonPodNotReady
		}
		message := p.Message
		if message == "" {
			message = "there is no pod yet"
		}
		p.Reason, p.Message = reason, message
		return Server{Reason: reason, Message: message, Pod: &p}
	}
	out.Pod = &p
	for _, d := range s.pod.devices {
		out.Devices = append(out.Devices, *d)
	}
	slices.SortFunc(out.Devices, func(a, b Device) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// podEnds makes true what an operation declared of a pod.
func (w *world) podEnds(op journal.Plan, e EndState) {
	s := w.servers[e.Node.Name]
	if s.pod == nil {
		return
	}
	if e.Node.Pod != "" {
		w.made++
		s.pod.Declared, s.pod.Ready, s.pod.Declares, s.pod.Runs = true, true, e.Node.Pod, e.Node.Pod
		s.pod.Running, s.down = true, false
		s.pod.Reason, s.pod.Message, s.pod.UID = "", "", fmt.Sprint("pod-", w.made)
		w.made--
	}
	for _, st := range op.Steps {
		switch st.Name {
		case StepRemovePod:
			s.pod.Running = false
			s.pod.Declared, s.pod.Ready, s.pod.UID, s.pod.Runs, s.pod.Declares = false, false, "", "", ""
		case StepFormatDevice:
			var p DeviceParams
			if json.Unmarshal(st.Params, &p) == nil {
				d := s.pod.devices[p.Name]
				d.Holds, d.UUID, d.Label, d.Mounted = "xfs", p.UUID, "anthill", true
				dir := v1alpha1.BricksDir + "/" + p.Name
				s.mounts[dir] = Mount{Dir: dir, FSUUID: p.UUID, SizeBytes: d.SizeBytes, FreeBytes: d.SizeBytes, Registered: true, Same: true}
			}
		}
	}
}

// podStepped makes true what one step does to a pod.
func (w *world) podStepped(s *view.Step) {
	var p PodParams
	if json.Unmarshal(s.Params, &p) != nil {
		return
	}
	switch s.Name {
	case StepMakeClaims:
		var claims ClaimsParams
		if json.Unmarshal(s.Params, &claims) == nil {
			for _, c := range claims.Claims {
				w.servers[p.Node].pod.Claims[c.Name] = ClaimView{Bound: true, Class: c.Class, Size: c.Size, Block: c.Block}
			}
		}
	case StepMakePod:
		pod := w.servers[p.Node].pod
		if pod.Declared, pod.Declares = true, p.Digest; pod.Runs == "" {
			pod.run(&p)
		}
	case StepRestartPod:
		w.servers[p.Node].pod.run(&p)
	}
}

// run makes it another pod.
func (t *truePod) run(p *PodParams) {
	t.Runs, t.UID, t.has = p.Digest, "pod-"+p.Digest, map[string]bool{}
	for _, s := range p.Storage {
		t.has[v1alpha1.BricksDir+"/"+s.Name] = true
	}
}

// doTemplate declares a template of nodes.
func doTemplate(w *world, a args) (string, error) {
	n, err := a.number("nodes", 3)
	if err != nil {
		return "", err
	}
	t := v1alpha1.NodeTemplate{Name: a.first(), Zone: a.one("zone"), Thresholds: v1alpha1.Thresholds{Nodes: int32(n)},
		Storage: v1alpha1.TemplateStorage{StorageClassName: a.one("class")}}
	if t.Storage.Count, err = int32Of(a, "count"); err != nil {
		return "", err
	}
	if a.has("size") {
		size := resource.MustParse(a.one("size"))
		t.Storage.Size = &size
	}
	t.PriorityClassName = a.one("priority")
	if a.has("memory") {
		t.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(a.one("memory"))}}
	}
	if a.has("block") {
		mode := corev1.PersistentVolumeBlock
		t.Storage.VolumeMode = &mode
	}
	w.cluster.Generation++
	at := slices.IndexFunc(w.cluster.Spec.NodeTemplates, func(have v1alpha1.NodeTemplate) bool { return have.Name == t.Name })
	switch {
	case a.has("gone"):
		w.cluster.Spec.NodeTemplates = slices.Delete(w.cluster.Spec.NodeTemplates, at, at+1)
	case at >= 0:
		w.cluster.Spec.NodeTemplates[at] = t
	default:
		w.cluster.Spec.NodeTemplates = append(w.cluster.Spec.NodeTemplates, t)
	}
	return "", nil
}

func int32Of(a args, key string) (int32, error) {
	n, err := a.number(key, 0)
	return int32(n), err
}

// doPod declares a node that is a pod by hand, or does something to one.
func doPod(w *world, a args) (string, error) {
	n := w.node(a.first())
	if n == nil {
		n = &v1alpha1.GlusterNode{ObjectMeta: w.meta(a.first())}
		n.Spec.Cluster = w.cluster.Name
		n.Spec.State = &v1alpha1.NodeState{HostPath: "/var/lib/" + n.Name}
		for _, s := range a.all("devices") {
			n.Spec.Storage = append(n.Spec.Storage, v1alpha1.Storage{Name: s, Device: "/dev/disk/by-id/" + s})
		}
		for _, s := range a.all("claims") {
			n.Spec.Storage = append(n.Spec.Storage, v1alpha1.Storage{Name: s, PVCName: n.Name + "-" + s})
		}
		w.addPod(n)
		return "", nil
	}
	p := w.servers[n.Name].pod
	if a.has("edited") {
		n.Generation++
		n.Spec.Zone = a.one("edited")
	}
	if a.has("unready") {
		p.Ready, p.Running, p.Reason, p.Message = false, false, a.one("unready"), "says Kubernetes"
	}
	if a.has("up") {
		p.Ready, p.Running, w.servers[n.Name].down = true, true, false
	}
	if a.has("hangs") { // its glusterd
		p.Ready, p.Reason, p.Message, w.servers[n.Name].down = false, v1alpha1.ReasonPodNotReady, "its glusterd does not serve yet", true
	}
	for _, s := range a.all("more") {
		n.Generation++
		n.Spec.Storage = append(n.Spec.Storage, v1alpha1.Storage{Name: s, PVCName: n.Name + "-" + s})
		w.addDir(n, len(n.Spec.Storage)-1)
	}
	if a.has("less") { // it was deleted, and declared again
		n.Spec.Storage = slices.DeleteFunc(n.Spec.Storage, func(s v1alpha1.Storage) bool { return s.Name == a.one("less") })
	}
	if a.has("runs") { // what another release made
		p.Declares, p.Runs = a.one("runs"), a.one("runs")
	}
	p.Foreign = a.has("foreign")
	p.Declared = p.Declared || p.Foreign
	for name, holds := range a.pairs("holds") {
		p.devices[name].Holds = holds
	}
	for _, claim := range a.all("claimed") {
		p.Claims[n.Name+"-"+claim] = ClaimView{Bound: true}
	}
	for _, claim := range a.all("lost") {
		p.Claims[n.Name+"-"+claim] = ClaimView{Lost: true, Message: "it is being deleted"}
	}
	for _, claim := range a.all("gone") {
		delete(p.Claims, n.Name+"-"+claim)
	}
	return "", nil
}

// doKubernetes says what there is beside pods.
func doKubernetes(w *world, a args) (string, error) {
	if a.has("image") {
		w.image = a.one("image")
	}
	if a.has("classes") {
		w.classes = a.all("classes")
	}
	for name, n := range a.pairs("hosts") {
		if w.hosts == nil {
			w.hosts = map[string]int{}
		}
		w.hosts[name] = len(n)
	}
	return "", nil
}

// obeyTemplates does what a decision says about nodes of templates.
func (w *world) obeyTemplates(d Decision) {
	for _, t := range d.TemplateNodes {
		if n := w.node(t.Name); n != nil {
			n.Spec = t.Spec
			n.Generation++
			for i := range n.Spec.Storage {
				w.addDir(n, i)
			}
			continue
		}
		n := &v1alpha1.GlusterNode{ObjectMeta: w.meta(t.Name), Spec: t.Spec}
		n.Annotations = map[string]string{v1alpha1.AnnotationTemplate: t.Template}
		w.addPod(n)
	}
	for _, name := range d.Remove {
		now := metav1.Unix(1, 0)
		w.node(name).DeletionTimestamp = &now
	}
}

// drawPod declares a node that is a pod, made by hand.
func drawPod(t *rapid.T, w *world, name string) {
	n := &v1alpha1.GlusterNode{ObjectMeta: w.meta(name)}
	n.Spec.Cluster, n.Spec.Zone = w.cluster.Name, rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "zone")
	n.Spec.State = &v1alpha1.NodeState{PVCName: name + "-state"}
	n.Spec.Storage = []v1alpha1.Storage{{Name: "1", Device: "/dev/disk/by-id/1"}, {Name: "2", PVCName: name + "-2"}}
	w.addPod(n)
	for _, claim := range []string{"state", "2"} {
		w.servers[name].pod.Claims[name+"-"+claim] = ClaimView{Bound: true}
	}
}
