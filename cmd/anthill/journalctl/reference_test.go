package journalctl

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/spf13/pflag"

	"github.com/gluster/anthill/journal"
)

var updateReference = flag.Bool("update-reference", false, "rewrite the samples of the reference page")

const referencePath = "../../../docs/reference/journal-cli.md"

// TestReference runs the samples of the reference page and compares what they
// print. Rewrite them with -update-reference.
func TestReference(t *testing.T) {
	page, err := os.ReadFile(referencePath)
	if err != nil {
		t.Fatal(err)
	}
	s := story(t)
	defer s.close()
	defer s.serve(journal.ActorFunc(func(context.Context, journal.Act) (journal.Acted, error) {
		return journal.Acted{Seq: s.j.Head().Seq + 1, Message: "resumed"}, nil
	}))()
	samples := 0
	var got strings.Builder
	inside := false
	for line := range strings.Lines(string(page)) {
		switch {
		case line == "```console\n":
			inside = true
		case line == "```\n":
			inside = false
		case inside:
			command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ anthill journal ")
			if !ok {
				continue // output, which is made anew
			}
			samples++
			r := anthill(t.Context(), scriptEnv(s.path), words(command)...)
			got.WriteString(line)
			got.WriteString(strings.ReplaceAll(masked(r.err+r.out, s.path), "/j/", filepath.Dir(DefaultPath)+"/"))
			continue
		}
		got.WriteString(line)
	}
	if samples == 0 {
		t.Fatal("the page has no samples")
	}
	if *updateReference {
		if err := os.WriteFile(referencePath, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(page), got.String()); diff != "" {
		t.Errorf("-page +now (-update-reference rewrites it):\n%s", diff)
	}
}

// words splits a command line at spaces outside double quotes.
func words(line string) []string {
	var out []string
	for i, part := range strings.Split(line, `"`) {
		if i%2 == 1 {
			out = append(out, part)
			continue
		}
		out = append(out, strings.Fields(part)...)
	}
	return out
}

// TestReferenceIsComplete asserts that the page names every command and flag.
func TestReferenceIsComplete(t *testing.T) {
	page, err := os.ReadFile(referencePath)
	if err != nil {
		t.Fatal(err)
	}
	for _, cmd := range NewCommand(Env{}).Commands() {
		if !strings.Contains(string(page), "\n## "+cmd.Name()) && !strings.Contains(string(page), "`"+cmd.Name()+" OP") {
			t.Errorf("the page does not describe %q", cmd.Name())
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !strings.Contains(string(page), "--"+f.Name) {
				t.Errorf("the page does not name --%s of %q", f.Name, cmd.Name())
			}
		})
	}
}

// storyID is the id of the n-th operation of the story.
func storyID(n int) journal.OpID {
	return uuid.MustParse(fmt.Sprintf("019c5b%02x-41d3-7c0e-9d2f-6b1f20a7c%03x", n, 0x4e0+n))
}

// story is the journal of the reference page: a volume grows while a server
// cannot be reached.
func story(t testing.TB) *script {
	t.Helper()
	s := newScript(t)
	add := func(events ...journal.Event) {
		for i := range events {
			if events[i].Op != uuid.Nil {
				events[i].Op = storyID(int(events[i].Op[len(events[i].Op)-1]))
			}
		}
		s.add(events...)
	}
	add(mustFence(t))
	add(s.plan(1, "create-volume", "volume/data", func(p *journal.Plan) {
		p.Object, p.Locks = "GlusterVolume/storage/data", []string{"volume:data/layout", "volume:data/service"}
		p.Reason = journal.Reason{Action: "VolumeExists", Difference: "volume data does not exist, 1 set of 3 is wanted", Generation: 1}
		p.Steps = []journal.Step{
			{ID: "make-bricks", Name: "make-bricks@1", Stage: journal.Compensatable},
			{ID: "create", Name: "create-volume@1", Stage: journal.Pivot},
			{ID: "start", Name: "start-volume@1", Stage: journal.Retriable},
		}
	}))
	add(s.op(journal.OpStarted, 1, nil))
	for _, step := range []string{"make-bricks", "create", "start"} {
		add(s.step(journal.StepStarted, 1, step, 1, journal.Started{AttemptID: "1-" + step, Originator: "n1", Argv: []string{"gluster", "volume", step, "data"}, Fence: 4}))
		add(s.step(journal.StepSucceeded, 1, step, 1, journal.Succeeded{}))
	}
	add(s.op(journal.OpCompleted, 1, journal.Completed{Message: "3 of 3 bricks healthy"}))
	add(s.plan(2, "add-brick", "volume/data", func(p *journal.Plan) {
		p.Object, p.Locks = "GlusterVolume/storage/data", []string{"volume:data/layout"}
		p.Reason = journal.Reason{Action: "VolumeSets", Difference: "volume data has 1 set, 2 are wanted", Generation: 2}
	}))
	add(s.op(journal.OpStarted, 2, nil), s.step(journal.StepSucceeded, 2, "guard", 0, journal.Succeeded{Adopted: true, Message: "3 of 3 bricks healthy"}))
	for _, step := range []string{"dirs", "add-brick"} {
		add(s.step(journal.StepStarted, 2, step, 1, journal.Started{AttemptID: "2-" + step, Originator: "n1", Argv: []string{"gluster", "volume", "add-brick", "data", "n4:/bricks/b1"}, Fence: 4}))
		add(s.step(journal.StepSucceeded, 2, step, 1, journal.Succeeded{}))
	}
	add(s.step(journal.StepStarted, 2, "rebalance", 1, journal.Started{AttemptID: "2-rebalance", Originator: "n1", Argv: []string{"gluster", "volume", "rebalance", "data", "start"}, Fence: 4}))
	add(s.step(journal.StepReceipt, 2, "rebalance", 1, journal.Receipt{Receipt: json.RawMessage(`{"taskID":"8a1e1f0c-5b0e-4c57-9f27-1f8f0f4a2b11"}`)}))
	add(s.step(journal.StepProgress, 2, "rebalance", 1, journal.Progress{Percent: 40, Message: "412 of 1030 files"}))
	add(s.plan(3, "join-node", "node/n5", func(p *journal.Plan) {
		p.Object, p.Locks = "GlusterNode/storage/n5", []string{"node:n5", "pool"}
		p.Reason = journal.Reason{Action: "NodesJoined", Difference: "node n5 is not a peer", Generation: 1}
		p.Steps = []journal.Step{
			{ID: "probe", Name: "peer-probe@1", Stage: journal.Compensatable},
			{ID: "settled", Name: "peer-settled@1", Stage: journal.Waiting},
		}
	}))
	add(s.op(journal.OpStarted, 3, nil), s.step(journal.StepStarted, 3, "probe", 1, journal.Started{AttemptID: "3-probe-1", Originator: "n1", Argv: []string{"gluster", "peer", "probe", "n5"}, Fence: 4}))
	add(s.step(journal.StepFailed, 3, "probe", 1, journal.Failure{Class: "permanent", Error: "n5: host key does not match the known one", Output: "peer probe: failed: Probe returned with Transport endpoint is not connected"}))
	add(s.op(journal.OpSuspended, 3, journal.Suspended{
		Cause: "Permanent", Message: "the server cannot be joined", First: "n5: host key does not match the known one", Last: "n5: host key does not match the known one",
		Attempts: 1, Next: "anthill journal retry " + storyID(3).String() + " --reason '...'",
	}))
	return s
}
