package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal"
)

func doPlan(w *world, a args) (string, error) {
	var b strings.Builder
	s := w.snapshot()
	d := Plan(s)
	fmt.Fprint(&b, endings("supersede", d.Supersede), endings("cancel", d.Cancel))
	if d.PoolID != "" {
		fmt.Fprintf(&b, "pool id %s\n", d.PoolID)
	}
	for _, v := range w.volumes {
		if id := d.VolumeIDs[v.Name]; id != "" {
			fmt.Fprintf(&b, "volume id of %s: %s\n", v.Name, id)
		}
	}
	for _, t := range d.TemplateNodes {
		verb := "make"
		if t.Reverts {
			verb = "put back"
		}
		fmt.Fprintf(&b, "%s GlusterNode/%s for template %s: zone %q, storage %v, state %s\n", verb, t.Name, t.Template, t.Spec.Zone, t.Spec.Storage, t.Spec.State.PVCName)
	}
	for _, name := range d.Remove {
		fmt.Fprintf(&b, "delete GlusterNode/%s\n", name)
	}
	first := w.count
	for i, p := range d.Plan {
		fmt.Fprintf(&b, "op%d %s", first+i+1, planned(d, first, p))
		if a.has("params") {
			for _, st := range p.Plan.Steps {
				fmt.Fprintf(&b, "  %s %s\n", st.ID, st.Params)
			}
		}
	}
	for _, object := range d.Release {
		fmt.Fprintf(&b, "release %s\n", object)
	}
	for _, e := range d.Events {
		fmt.Fprintf(&b, "event %s %s: %s\n", e.Object, e.Reason, e.Message)
	}
	converged := d.ReconcileVersion != nil && w.cluster.Status.ReconcileVersion == nil
	w.obey(d)
	if converged {
		fmt.Fprintf(&b, "converged at version %d\n", *d.ReconcileVersion)
	}
	if b.Len() == 0 {
		return "nothing\n", nil
	}
	return b.String(), nil
}

func endings(what string, list []Ending) string {
	var b strings.Builder
	for _, e := range list {
		fmt.Fprintf(&b, "%s %s: %s\n", what, e.Op, e.Reason)
	}
	return b.String()
}

func planned(d Decision, first int, p Planned) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: %s\n", p.Plan.Kind, p.Plan.Target, p.Plan.Reason.Difference)
	var steps []string
	for _, s := range p.Plan.Steps {
		mark := map[journal.Stage]string{journal.Pivot: "!", journal.Waiting: "~", journal.Compensatable: "?"}[s.Stage]
		name, _, _ := strings.Cut(s.Name, "@")
		steps = append(steps, name+mark)
	}
	fmt.Fprintf(&b, "  steps %s\n  locks %s\n", strings.Join(steps, " "), strings.Join(p.Plan.Locks, " "))
	var after []string
	for _, id := range p.Plan.After {
		after = append(after, id.String())
	}
	for _, key := range p.After {
		at := slices.IndexFunc(d.Plan, func(o Planned) bool { return o.Key == key })
		after = append(after, fmt.Sprintf("op%d", first+at+1))
	}
	if len(after) > 0 {
		fmt.Fprintf(&b, "  after %s\n", strings.Join(after, " "))
	}
	if len(p.Plan.Supersedes) > 0 {
		fmt.Fprintf(&b, "  instead of %s\n", p.Plan.Supersedes[0])
	}
	if end := must(endStateOf(&p.Plan)); end.Volume != nil {
		size := len(end.Volume.Bricks)
		for i, br := range end.Volume.Bricks {
			set, _, _ := strings.Cut(br.Leaf, "-")
			if i == 0 || !strings.HasPrefix(end.Volume.Bricks[i-1].Leaf, set+"-") {
				fmt.Fprintf(&b, "  set %s:", set)
			}
			mark := ""
			if br.Arbiter {
				mark = " (arbiter)"
			}
			fmt.Fprintf(&b, " %s:%s%s", br.Node, br.Root, mark)
			if i == size-1 || !strings.HasPrefix(end.Volume.Bricks[i+1].Leaf, set+"-") {
				b.WriteByte('\n')
			}
		}
	}
	return b.String()
}

// doSettle plans and finishes until nothing is planned, and tells which kinds
// of operations that took.
func doSettle(w *world, _ args) (string, error) {
	var b strings.Builder
	for range 40 {
		d := Plan(w.snapshot())
		ids := w.obey(d)
		for _, id := range ids {
			fmt.Fprintf(&b, "%s %s\n", w.op(id).Plan.Kind, w.op(id).Plan.Target)
		}
		if len(w.open) == 0 && len(d.TemplateNodes)+len(d.Remove) == 0 {
			if d.ReconcileVersion != nil {
				b.WriteString("converged\n")
			}
			return b.String(), nil
		}
		for len(w.open) > 0 {
			if err := w.finish(w.open[0].ID); err != nil {
				return "", err
			}
		}
	}
	return "", fmt.Errorf("it does not settle:\n%s", b.String())
}

// good are conditions that say that all is well; they are left out.
var good = map[string]string{
	v1alpha1.ConditionAvailable: "True", v1alpha1.ConditionProgressing: "False", v1alpha1.ConditionDegraded: "False",
	v1alpha1.ConditionBlocked: "False", v1alpha1.ConditionSpecAccepted: "True",
}

func doConditions(w *world, a args) (string, error) {
	var b strings.Builder
	d := Plan(w.snapshot())
	about := a.first()
	for _, f := range d.Findings {
		if about != "" && !strings.HasSuffix(strings.ToLower(f.Object), about) {
			continue
		}
		if f.Status == good[f.Type] && (f.Message == "" || f.Reason == v1alpha1.ReasonPaused) && f.Reason != v1alpha1.ReasonPaused {
			continue
		}
		fmt.Fprintf(&b, "%s %s=%s %s", f.Object, f.Type, f.Status, f.Reason)
		if f.Message != "" {
			fmt.Fprintf(&b, ": %s", f.Message)
		}
		b.WriteByte('\n')
	}
	if b.Len() == 0 {
		return "all is well\n", nil
	}
	return b.String(), nil
}

func doStatus(w *world, a args) (string, error) {
	var b strings.Builder
	d := Plan(w.snapshot())
	results := func(rs []Result) {
		for _, r := range rs {
			fmt.Fprintf(&b, "%s %s", r.Name, r.Status)
			if r.Message != "" {
				fmt.Fprintf(&b, ": %s", r.Message)
			}
			b.WriteByte('\n')
		}
	}
	switch kind, name, _ := strings.Cut(a.first(), "/"); kind {
	case "node":
		n := d.Nodes[name]
		fmt.Fprintf(&b, "uuid %s joined %t healthy %t gate %s\n", n.UUID, n.Joined, n.Healthy, n.GateDigest)
		for _, dir := range n.Dirs {
			fmt.Fprintf(&b, "%s %s %d GiB, %d bricks %s\n", dir.Path, dir.State, dir.SizeBytes>>30, dir.Bricks, dir.Message)
		}
		results(d.NodeResults[name])
	case "volume":
		v := d.Volumes[name]
		fmt.Fprintf(&b, "%s id %s gluster %s up %d/%d usable %d GiB options %v\n", v.Layout, v.VolumeID, v.GlusterID, v.Up, v.Total, v.UsableBytes>>30, v.Options)
		for _, br := range v.Bricks {
			fmt.Fprintf(&b, "%d.%d %s %s:%s online %t known %t\n", br.Set, br.Position, br.Node, br.Host, br.Path, br.Online, br.Known)
		}
		results(d.VolumeResults[name])
	default:
		c := d.Cluster
		heals := "unknown"
		if c.PendingHeals != nil {
			heals = fmt.Sprint(*c.PendingHeals)
		}
		fmt.Fprintf(&b, "nodes %d joined %d healthy %d volumes %d available %d heals %s options %v\n", c.Nodes, c.Joined, c.Healthy, c.Volumes, c.VolumesAvailable, heals, c.Options)
		results(d.Results)
	}
	return strings.ReplaceAll(b.String(), " \n", "\n"), nil
}
