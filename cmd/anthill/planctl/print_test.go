package planctl

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/cmd/anthill/cli"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
	"github.com/gluster/anthill/planner"
)

func samplePlans() []planned {
	old, running := journal.OpID{15: 1}, journal.OpID{15: 2}
	step := func(id string, s journal.Stage) journal.Step {
		return journal.Step{ID: id, Name: id + "@1", Stage: s}
	}
	return []planned{
		{
			key: types.NamespacedName{Namespace: "demo", Name: "c1"},
			snapshot: planner.Snapshot{
				Cluster: &v1alpha1.GlusterCluster{Status: v1alpha1.GlusterClusterStatus{PoolID: "pool-1"}},
				Open: []view.Op{{ID: running, State: view.Running, Plan: journal.Plan{Kind: "add-brick", Target: "volume/v1"},
					Steps: []view.Step{{Step: step("rebalance", journal.Retriable), State: view.Started}}}},
				Nodes: make([]v1alpha1.GlusterNode, 1),
			},
			decision: planner.Decision{
				Plan: []planner.Planned{
					{Key: "prepare", Plan: journal.Plan{Kind: "prepare-node", Target: "node/n4", Object: "GlusterNode/demo/n4",
						Reason: journal.Reason{Action: "nodesPrepared", Difference: "n4 is not\nprepared"},
						Steps:  []journal.Step{step("install-gate", journal.Compensatable), step("claim-server", journal.Compensatable)}, Locks: []string{"node:n4"}}},
					{Key: "join", After: []string{"prepare"}, Plan: journal.Plan{Kind: "join-node", Target: "node/n4", Object: "GlusterNode/demo/n4",
						Reason: journal.Reason{Action: "nodesJoined", Difference: "n4 is no peer"}, After: []journal.OpID{running}, Supersedes: []journal.OpID{old},
						Steps: []journal.Step{step("peer-probe", journal.Pivot), step("peer-settled", journal.Waiting)}, Locks: []string{"pool"}}},
				},
				Supersede: []planner.Ending{{Op: old, Reason: "the node is described anew"}},
				Release:   []string{"GlusterVolume/v9"},
				Findings: []planner.Finding{
					{Object: "GlusterNode/n5", Type: v1alpha1.ConditionBlocked, Status: "True", Reason: "ServerUnreachable", Message: "no route"},
					{Object: "GlusterNode/n4", Type: v1alpha1.ConditionBlocked, Status: "False", Reason: "NothingBlocks"},
					{Object: "GlusterVolume/v1", Type: v1alpha1.ConditionSpecAccepted, Status: "False", Reason: "OptionRefused", Message: "read-only"},
				},
				Results: []planner.Result{{Name: "nodesJoined", Status: "False", Message: "n4"}},
			},
		},
		{
			key:      types.NamespacedName{Namespace: "demo", Name: "c2"},
			snapshot: planner.Snapshot{Cluster: &v1alpha1.GlusterCluster{}, NewPoolID: "pool-2"},
			decision: planner.Decision{PoolID: "pool-2"},
		},
	}
}

func TestTextForPeople(t *testing.T) {
	var b bytes.Buffer
	o := cli.NewOutput(cli.FormatTable, cli.FormatJSON, cli.FormatYAML)
	if err := write(&b, o, func(string) string { return "" }, samplePlans()); err != nil {
		t.Fatal(err)
	}
	want := `GlusterCluster demo/c1, pool pool-1
  1. prepare-node of node/n4: n4 is not; prepared
     steps: install-gate, claim-server
  2. join-node of node/n4: n4 is no peer
     after 1
     after operation 00000000-0000-0000-0000-000000000002
     in place of operation 00000000-0000-0000-0000-000000000001
     steps: peer-probe (from here on only forward), peer-settled
  would supersede 00000000-0000-0000-0000-000000000001: the node is described anew
  would let go of GlusterVolume/v9
  under way: add-brick of volume/v1, running, step rebalance (00000000-0000-0000-0000-000000000002)
  blocked GlusterNode/n5: ServerUnreachable: no route
  refused GlusterVolume/v1: OptionRefused: read-only

GlusterCluster demo/c2, a new pool
  nothing to do
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

func TestDocuments(t *testing.T) {
	var b bytes.Buffer
	o := cli.NewOutput(cli.FormatTable, cli.FormatJSON, cli.FormatYAML)
	o.Format.Value = cli.FormatJSON
	if err := write(&b, o, func(string) string { return "" }, samplePlans()); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		APIVersion, Kind string
		Items            []document
	}
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatalf("%v in:\n%s", err, b.String())
	}
	if doc.APIVersion != "plan.anthill.gluster.org/v1" || doc.Kind != "PlanList" || len(doc.Items) != 2 {
		t.Errorf("got %s %s with %d items", doc.APIVersion, doc.Kind, len(doc.Items))
	}
	if diff := cmp.Diff([]int{1}, doc.Items[0].Operations[1].After); diff != "" {
		t.Errorf("operations refer to each other by number (-want +got):\n%s", diff)
	}
	for _, empty := range []string{`"operations": []`, `"ends": []`, `"problems": []`} {
		if !strings.Contains(b.String(), empty) {
			t.Errorf("an empty list is a list: %s is missing in\n%s", empty, b.String())
		}
	}
	b.Reset()
	o.Format.Value = cli.FormatYAML
	if err := write(&b, o, func(string) string { return "" }, samplePlans()); err != nil || !strings.Contains(b.String(), "kind: PlanList") {
		t.Errorf("yaml: %v\n%s", err, b.String())
	}
}
