package planctl

import (
	"slices"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
	"github.com/gluster/anthill/planner"
)

// apiVersion of the documents. Fields are only ever added to it.
const apiVersion = "plan.anthill.gluster.org/v1"

// A document is the plan for one cluster. The JSON is a promise.
type document struct {
	Cluster    string      `json:"cluster"` // namespace/name
	PoolID     string      `json:"poolID,omitempty"`
	NewPool    bool        `json:"newPool,omitempty"` // the id is an example
	Operations []operation `json:"operations"`
	Ends       []ending    `json:"ends"`
	Releases   []string    `json:"releases"` // finalizers
	UnderWay   []underWay  `json:"underWay"`
	Problems   []problem   `json:"problems"`
	Actions    []action    `json:"actions"`
}

type operation struct {
	Number     int      `json:"number"` // from 1, within the cluster
	Kind       string   `json:"kind"`
	Target     string   `json:"target"`
	Object     string   `json:"object"`
	Action     string   `json:"action"`
	Difference string   `json:"difference"`
	After      []int    `json:"after,omitempty"`      // numbers
	AfterOpen  []string `json:"afterOpen,omitempty"`  // operations under way
	Supersedes []string `json:"supersedes,omitempty"` // operations under way
	Steps      []step   `json:"steps"`
	Locks      []string `json:"locks"`
}

type step struct {
	ID    string        `json:"id"`
	Name  string        `json:"name"`
	Stage journal.Stage `json:"stage"`
}

type ending struct {
	Operation string `json:"operation"`
	How       string `json:"how"` // supersede, cancel
	Reason    string `json:"reason"`
}

type underWay struct {
	Operation string       `json:"operation"`
	Kind      string       `json:"kind"`
	Target    string       `json:"target"`
	State     view.OpState `json:"state"`
	Step      string       `json:"step,omitempty"`
}

// A problem is a condition that is not as it should be.
type problem struct {
	Object    string `json:"object"`
	Condition string `json:"condition"`
	Status    string `json:"status"`
	Reason    string `json:"reason"`
	Message   string `json:"message,omitempty"`
}

type action struct {
	Object  string `json:"object"`
	Name    string `json:"name"`
	Status  string `json:"status"`
	Message string `json:"message,omitempty"`
}

func describe(p *planned) *document {
	d := &document{Cluster: p.key.String(), PoolID: p.snapshot.Cluster.Status.PoolID,
		Operations: []operation{}, Ends: []ending{}, UnderWay: []underWay{}, Problems: []problem{}, Actions: []action{},
		Releases: append([]string{}, p.decision.Release...)}
	if d.PoolID == "" && p.decision.PoolID != "" {
		d.PoolID, d.NewPool = p.decision.PoolID, p.decision.PoolID == p.snapshot.NewPoolID
	}
	numbers := map[string]int{}
	for i, o := range p.decision.Plan {
		numbers[o.Key] = i + 1
	}
	for i, o := range p.decision.Plan {
		d.Operations = append(d.Operations, describeOperation(i+1, o, numbers))
	}
	for _, e := range p.decision.Supersede {
		d.Ends = append(d.Ends, ending{e.Op.String(), "supersede", e.Reason})
	}
	for _, e := range p.decision.Cancel {
		d.Ends = append(d.Ends, ending{e.Op.String(), "cancel", e.Reason})
	}
	for i := range p.snapshot.Open {
		op := &p.snapshot.Open[i]
		u := underWay{Operation: op.ID.String(), Kind: op.Plan.Kind, Target: op.Plan.Target, State: op.State}
		if k := op.Current(); k < len(op.Steps) {
			u.Step = op.Steps[k].ID
		}
		d.UnderWay = append(d.UnderWay, u)
	}
	for _, f := range p.decision.Findings {
		if wrong(f) {
			d.Problems = append(d.Problems, problem{f.Object, f.Type, f.Status, f.Reason, f.Message})
		}
	}
	d.Actions = append(d.Actions, describeActions(p)...)
	return d
}

func describeOperation(n int, o planner.Planned, numbers map[string]int) operation {
	out := operation{Number: n, Kind: o.Plan.Kind, Target: o.Plan.Target, Object: o.Plan.Object, Action: o.Plan.Reason.Action,
		Difference: o.Plan.Reason.Difference, Locks: append([]string{}, o.Plan.Locks...), Steps: []step{}}
	for _, key := range o.After {
		out.After = append(out.After, numbers[key])
	}
	slices.Sort(out.After)
	for _, id := range o.Plan.After {
		out.AfterOpen = append(out.AfterOpen, id.String())
	}
	for _, id := range o.Plan.Supersedes {
		out.Supersedes = append(out.Supersedes, id.String())
	}
	for _, s := range o.Plan.Steps {
		out.Steps = append(out.Steps, step{s.ID, s.Name, s.Stage})
	}
	return out
}

// wrong reports whether a condition is one that a person should see.
func wrong(f planner.Finding) bool {
	switch f.Type {
	case v1alpha1.ConditionBlocked, v1alpha1.ConditionDegraded:
		return f.Status == "True"
	case v1alpha1.ConditionSpecAccepted:
		return f.Status == "False"
	}
	return false
}

func describeActions(p *planned) []action {
	var out []action
	add := func(object string, results []planner.Result) {
		for _, r := range results {
			out = append(out, action{object, r.Name, r.Status, r.Message})
		}
	}
	add(v1alpha1.KindCluster+"/"+p.key.Name, p.decision.Results)
	for i := range p.snapshot.Nodes {
		name := p.snapshot.Nodes[i].Name
		add(v1alpha1.KindNode+"/"+name, p.decision.NodeResults[name])
	}
	for i := range p.snapshot.Volumes {
		name := p.snapshot.Volumes[i].Name
		add(v1alpha1.KindVolume+"/"+name, p.decision.VolumeResults[name])
	}
	slices.SortStableFunc(out, func(a, b action) int {
		switch {
		case a.Object < b.Object:
			return -1
		case a.Object > b.Object:
			return 1
		}
		return 0
	})
	return out
}
