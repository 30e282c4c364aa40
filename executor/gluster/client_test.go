package gluster

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// captured returns a runner that answers with a captured file and checks what
// it is asked to run.
func captured(t *testing.T, file string, wantArgv []string, mutates bool) Runner {
	t.Helper()
	text, err := os.ReadFile("testdata/10.3/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return RunnerFunc(func(_ context.Context, c Command) (Output, error) {
		if diff := cmp.Diff(wantArgv, c.Argv); diff != "" {
			t.Errorf("argv (-want +got):\n%s", diff)
		}
		if c.Mutates != mutates || mutates != (c.Attempt != "") || c.Deadline <= 0 {
			t.Errorf("command %+v: want mutates=%v, an attempt only then, and a deadline", c, mutates)
		}
		return Output{Stdout: text}, nil
	})
}

const (
	uuid1 = "8ea0dd1a-baae-4e93-9f05-d61c150cfa74"
	uuid2 = "72d80a81-0e4d-4838-b3f0-d86754f90f99"
	uuid3 = "db3cfd32-7892-4073-b473-f8d54ac89638"
)

// must returns a function that fails the test on an error and yields the value.
func must[T any](t *testing.T) func(T, error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestPeers(t *testing.T) {
	argv := []string{"gluster", "--mode=script", "--xml", "pool", "list"}
	got := must[[]Peer](t)(NewClient(captured(t, "pool-list.xml", argv, false)).PoolList(t.Context()))
	want := []Peer{
		{UUID: uuid2, Hostname: "s2", State: PeerInCluster, Connected: true},
		{UUID: uuid3, Hostname: "s3", State: PeerInCluster, Connected: true},
		{UUID: uuid1, Hostname: "localhost", Connected: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got[0].Self() || !got[2].Self() || !got[0].Member() {
		t.Errorf("self or member of %+v", got)
	}

	argv = []string{"gluster", "--mode=script", "--xml", "peer", "status"}
	down := must[[]Peer](t)(NewClient(captured(t, "peer-status-down.xml", argv, false)).PeerStatus(t.Context()))
	if len(down) < 2 || down[0].Connected == down[1].Connected {
		t.Errorf("one of the peers is down: %+v", down)
	}
	clone := must[[]Peer](t)(NewClient(captured(t, "peer-status-clone.xml", argv, false)).PeerStatus(t.Context()))
	if diff := cmp.Diff([]string{"s2", "s5"}, clone[0].Names()); diff != "" {
		t.Errorf("a clone is another name of the same peer (LAB-14), -want +got:\n%s", diff)
	}
	none := must[[]Peer](t)(NewClient(captured(t, "virgin-peerstatus.xml", argv, false)).PeerStatus(t.Context()))
	if len(none) != 0 {
		t.Errorf("a fresh server has no peers: %+v", none)
	}
}

func TestVolumeInfo(t *testing.T) {
	argv := []string{"gluster", "--mode=script", "--xml", "volume", "info"}
	vols := must[[]Volume](t)(NewClient(captured(t, "info-four.xml", argv, false)).VolumeInfo(t.Context(), ""))
	type brief struct {
		Name, Type                                   string
		Status                                       VolumeStatus
		Sets, Replica, Arbiter, Disperse, Redundancy int
		Bricks, SetSize                              int
	}
	var got []brief
	for _, v := range vols {
		got = append(got, brief{v.Name, v.Type, v.Status, v.Sets, v.Replica, v.Arbiter, v.Disperse, v.Redundancy, len(v.Bricks), v.SetSize()})
	}
	want := []brief{
		{"v3", "Distributed-Replicate", VolumeStarted, 2, 3, 0, 0, 0, 6, 3},
		{"va", "Replicate", VolumeStarted, 1, 3, 1, 0, 0, 3, 3},
		{"vd", "Disperse", VolumeStarted, 1, 1, 0, 3, 1, 3, 3},
		{"vr2", "Replicate", VolumeCreated, 1, 2, 0, 0, 0, 2, 2},
		{"vx", "Distribute", VolumeStarted, 2, 1, 0, 0, 0, 2, 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	wantBricks := []Brick{
		{Host: "s1", Path: "/bricks/b1/v/e/brick", PeerUUID: uuid1},
		{Host: "s2", Path: "/bricks/b1/v/e/brick", PeerUUID: uuid2},
		{Host: "s3", Path: "/bricks/b1/v/e/brick", PeerUUID: uuid3, Arbiter: true},
	}
	if diff := cmp.Diff(wantBricks, vols[1].Bricks); diff != "" {
		t.Errorf("bricks of the arbiter volume, -want +got:\n%s", diff)
	}
	if vols[2].Options["nfs.disable"] != "on" || len(vols[2].Options) != 3 {
		t.Errorf("options %v", vols[2].Options)
	}
	none := must[[]Volume](t)(NewClient(captured(t, "volume-info-none.xml", argv, false)).VolumeInfo(t.Context(), ""))
	if len(none) != 0 {
		t.Errorf("no volumes: %+v", none)
	}
}

func TestVolumeStatus(t *testing.T) {
	argv := []string{"gluster", "--mode=script", "--xml", "volume", "status", "v3", "detail"}
	got := must[[]Status](t)(NewClient(captured(t, "status-brickdown.xml", argv, false)).VolumeStatus(t.Context(), "v3"))
	if len(got) != 1 || len(got[0].Bricks) != 6 || got[0].Volume != "v3" {
		t.Fatalf("got %+v", got)
	}
	want := []BrickStatus{
		{
			Brick:  Brick{Host: "s1", Path: "/bricks/b1/v/h/brick", PeerUUID: uuid1},
			Online: true, Port: 59932, PID: 985, SizeBytes: 352321536, FreeBytes: 327802880, Device: "/dev/loop0", FSType: "xfs",
		},
		{
			Brick:     Brick{Host: "s2", Path: "/bricks/b1/v/h/brick", PeerUUID: uuid2},
			SizeBytes: 352321536, FreeBytes: 327802880, Device: "/dev/loop1", FSType: "xfs",
		},
	}
	if diff := cmp.Diff(want, got[0].Bricks[:2]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if !got[0].Bricks[0].Healthy() || got[0].Bricks[1].Healthy() {
		t.Error("the first brick is healthy, the second is down")
	}

	argv = []string{"gluster", "--mode=script", "--xml", "volume", "status", "vreb"}
	run := must[[]Status](t)(NewClient(captured(t, "status-run.xml", argv, false)).VolumeServices(t.Context(), "vreb"))
	wantTasks := []Task{{Type: "Rebalance", ID: "e02b060d-cc16-472d-a64d-f25ce811fa3e", Status: RebalanceRunning}}
	if diff := cmp.Diff(wantTasks, run[0].Tasks); diff != "" {
		t.Errorf("tasks, -want +got:\n%s", diff)
	}
	argv[5] = "v3"
	plain := must[[]Status](t)(NewClient(captured(t, "status-brickdown-plain.xml", argv, false)).VolumeServices(t.Context(), "v3"))
	if n := len(plain[0].Services); n != 3 || !plain[0].Services[0].Online || plain[0].Services[0].Name != "Self-heal Daemon" {
		t.Errorf("services %+v", plain[0].Services)
	}
	away := must[[]Status](t)(NewClient(captured(t, "down-status.xml", argv, false)).VolumeServices(t.Context(), "v3"))
	if len(away[0].Bricks) != 4 {
		t.Errorf("bricks of a server that is away are missing (LAB-8): %+v", away[0].Bricks)
	}
}

func TestHealInfoSummary(t *testing.T) {
	argv := []string{"gluster", "--mode=script", "--xml", "volume", "heal", "v3", "info", "summary"}
	got := must[[]HealBrick](t)(NewClient(captured(t, "heal-brickdown.xml", argv, false)).HealInfoSummary(t.Context(), "v3"))
	want := []HealBrick{
		{Brick: Brick{Host: "s1", Path: "/bricks/b1/v/h/brick", PeerUUID: uuid1}, Status: "Connected", Counted: true, Total: 1, Pending: 1},
		{
			Brick:  Brick{Host: "s2", Path: "/bricks/b1/v/h/brick"},
			Status: "Failed to process entries completely. (Transport endpoint is not connected)totalNumberOfEntries0",
		},
	}
	if diff := cmp.Diff(want, got[:2]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	clean := 0
	for _, b := range got {
		if b.Clean() {
			clean++
		}
	}
	if len(got) != 6 || clean != 3 {
		t.Errorf("%d of %d bricks are clean, want 3 of 6", clean, len(got))
	}
}

func TestRebalanceStatus(t *testing.T) {
	argv := []string{"gluster", "--mode=script", "--xml", "volume", "rebalance", "vreb", "status"}
	got := must[Rebalance](t)(NewClient(captured(t, "rebalance-run.xml", argv, false)).RebalanceStatus(t.Context(), "vreb"))
	want := Rebalance{TaskID: "e02b060d-cc16-472d-a64d-f25ce811fa3e", Nodes: []RebalanceNode{
		{PeerUUID: uuid2, Name: "s2", Status: RebalanceRunning, Files: 1, Bytes: 20000, Lookups: 501},
		{PeerUUID: uuid3, Name: "s3", Status: RebalanceRunning, Lookups: 4},
		{PeerUUID: uuid1, Name: "localhost", Status: RebalanceRunning, Files: 2, Bytes: 40000, Lookups: 503},
	}}
	if len(got.Nodes) > 3 {
		got.Nodes = got.Nodes[:3]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	done := must[Rebalance](t)(NewClient(captured(t, "rebalance-done-reb.xml", argv, false)).RebalanceStatus(t.Context(), "vreb"))
	for _, n := range done.Nodes {
		if n.Status != RebalanceCompleted && n.Status != RebalanceNotStarted {
			t.Errorf("node %s: %s", n.Name, n.Status)
		}
	}
}

func TestOptionsAndVersions(t *testing.T) {
	argv := []string{"gluster", "--mode=script", "--xml", "volume", "get", "all", "all"}
	now, highest, err := NewClient(captured(t, "get-all-all.xml", argv, false)).OpVersion(t.Context())
	if err != nil || now != 100000 || highest != 100000 {
		t.Errorf("OpVersion() = %d, %d, %v", now, highest, err)
	}
	argv[5] = "v1"
	got := must[map[string]Setting](t)(NewClient(captured(t, "get-v-all.xml", argv, false)).VolumeGetAll(t.Context(), "v1"))
	if len(got) < 300 || got["cluster.lookup-unhashed"] != (Setting{"on", true}) || got["nfs.disable"] != (Setting{"on", false}) {
		t.Errorf("%d options, %+v %+v", len(got), got["cluster.lookup-unhashed"], got["nfs.disable"])
	}
	v, err := NewClient(captured(t, "version.txt", []string{"gluster", "--version"}, false)).Version(t.Context())
	if err != nil || v != "10.3" {
		t.Errorf("Version() = %q, %v", v, err)
	}
}

func TestMutations(t *testing.T) {
	cli := func(w ...string) []string { return append([]string{"gluster", "--mode=script", "--xml"}, w...) }
	bricks := []Brick{{Host: "s1", Path: "/b/1"}, {Host: "s2", Path: "/b/1"}, {Host: "s3", Path: "/b/1"}}
	cases := map[string]struct {
		reason string
		file   string
		argv   []string
		run    func(context.Context, *Client) (Reply, error)
		want   Reply
	}{
		"Probe": {"A clean answer.", "probe-ok.xml", cli("peer", "probe", "s2"), func(ctx context.Context, c *Client) (Reply, error) {
			return c.PeerProbe(ctx, "a1", "s2")
		}, Reply{Output: "success"}},
		"Create": {"The new volume's id.", "create-ok.xml", cli("volume", "create", "va", "replica", "3", "arbiter", "1", "s1:/b/1", "s2:/b/1", "s3:/b/1"), func(ctx context.Context, c *Client) (Reply, error) {
			return c.VolumeCreate(ctx, "a1", CreateSpec{Name: "va", Replica: 3, Arbiter: 1, Bricks: bricks})
		}, Reply{VolumeID: "cc7ab8d0-daf5-4352-936a-2fd65fa791d3"}},
		"Start": {"The volume's id.", "start-ok.xml", cli("volume", "start", "v1"), func(ctx context.Context, c *Client) (Reply, error) {
			return c.VolumeStart(ctx, "a1", "v1", false)
		}, Reply{VolumeID: "17359440-d7c8-42bf-8def-2f38c44ce3e1"}},
		"StartForce": {"Force is one more word.", "start-ok.xml", cli("volume", "start", "v1", "force"), func(ctx context.Context, c *Client) (Reply, error) {
			return c.VolumeStart(ctx, "a1", "v1", true)
		}, Reply{VolumeID: "17359440-d7c8-42bf-8def-2f38c44ce3e1"}},
		"Stop": {"The volume's id.", "stop-ok.xml", cli("volume", "stop", "v1"), func(ctx context.Context, c *Client) (Reply, error) {
			return c.VolumeStop(ctx, "a1", "v1")
		}, Reply{VolumeID: "17359440-d7c8-42bf-8def-2f38c44ce3e1"}},
		"Delete": {"The volume's id.", "delete-ok.xml", cli("volume", "delete", "v1"), func(ctx context.Context, c *Client) (Reply, error) {
			return c.VolumeDelete(ctx, "a1", "v1")
		}, Reply{VolumeID: "17359440-d7c8-42bf-8def-2f38c44ce3e1"}},
		"Set": {"Words.", "set-user.xml", cli("volume", "set", "v1", "user.anthill.volume", "x"), func(ctx context.Context, c *Client) (Reply, error) {
			return c.VolumeSet(ctx, "a1", "v1", OptionVolume, "x")
		}, Reply{Output: "Set volume successful"}},
		"Barrier": {"A barrier is a set.", "barrier.xml", cli("volume", "set", "v3", "user.anthill.barrier", "a1"), func(ctx context.Context, c *Client) (Reply, error) {
			return c.Barrier(ctx, "a1", "v3")
		}, Reply{Output: "Set volume successful"}},
		"Reset": {"Words.", "reset-key.xml", cli("volume", "reset", "v1", "performance.quick-read"), func(ctx context.Context, c *Client) (Reply, error) {
			return c.VolumeReset(ctx, "a1", "v1", "performance.quick-read")
		}, Reply{Output: "reset volume successful"}},
		"ClusterSet": {"All volumes.", "set-user.xml", cli("volume", "set", "all", "cluster.server-quorum-ratio", "51%"), func(ctx context.Context, c *Client) (Reply, error) {
			return c.ClusterSet(ctx, "a1", "cluster.server-quorum-ratio", "51%")
		}, Reply{Output: "Set volume successful"}},
		"ClusterReset": {"All volumes.", "reset-key.xml", cli("volume", "reset", "all", "cluster.server-quorum-ratio"), func(ctx context.Context, c *Client) (Reply, error) {
			return c.ClusterReset(ctx, "a1", "cluster.server-quorum-ratio")
		}, Reply{Output: "reset volume successful"}},
		"AddBrick": {"Whole sets.", "add-ok.xml", cli("volume", "add-brick", "v1", "s1:/b/1", "s2:/b/1", "s3:/b/1"), func(ctx context.Context, c *Client) (Reply, error) {
			return c.AddBrick(ctx, "a1", "v1", bricks)
		}, Reply{Output: "Add Brick successful"}},
		"Rebalance": {"The task's id.", "rebalance-start.xml", cli("volume", "rebalance", "v1", "start"), func(ctx context.Context, c *Client) (Reply, error) {
			return c.RebalanceStart(ctx, "a1", "v1")
		}, Reply{TaskID: "10f7692d-4967-4ccb-830f-89be9cb26d41"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := tc.run(t.Context(), NewClient(captured(t, tc.file, tc.argv, true)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
	id, err := NewClient(captured(t, "uuid-get.xml", cli("system::", "uuid", "get"), true)).UUIDGet(t.Context(), "a1")
	if err != nil || len(id) != 36 {
		t.Errorf("UUIDGet() = %q, %v", id, err)
	}
}

func TestProbeOfAKnownName(t *testing.T) {
	for _, a := range loadAnswers(t) {
		if a.name != "probe-again" {
			continue
		}
		c := NewClient(RunnerFunc(func(context.Context, Command) (Output, error) { return a.out, nil }))
		r, err := c.PeerProbe(t.Context(), "a1", "s2")
		if err != nil || !r.Already || r.Reason != ReasonPeerKnown || r.Output != "Host s2 port 24007 already in peer list" {
			t.Errorf("PeerProbe() = %+v, %v", r, err)
		}
	}
}

func TestRunnerErrors(t *testing.T) {
	boom := errors.New("boom")
	cases := map[string]struct {
		reason  string
		err     error
		mutates bool
		want    read
	}{
		"NotStarted": {"Nothing happened.", errors.Join(ErrNotStarted, boom), true, read{Retry, Transient, ReasonServerUnreachable, PhaseSend, ""}},
		"Busy":       {"An earlier command runs there.", errors.Join(ErrServerBusy, boom), true, read{Retry, Busy, ReasonServerBusy, PhaseSend, ""}},
		"Fenced":     {"Somebody else owns the server.", errors.Join(ErrFenced, boom), true, read{Term, Fenced, ReasonServerFenced, PhaseSend, ""}},
		"Lost":       {"A lost reply says nothing.", boom, true, read{Unknown, Uncertain, ReasonReplyLost, PhaseSend, ""}},
		"LostRead":   {"A read changed nothing.", boom, false, read{Retry, Transient, ReasonReplyLost, PhaseSend, ""}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := NewClient(RunnerFunc(func(context.Context, Command) (Output, error) { return Output{}, tc.err }))
			var err error
			if tc.mutates {
				_, err = c.VolumeStop(t.Context(), "a1", "v")
			} else {
				_, err = c.VolumeInfo(t.Context(), "")
			}
			var e *Error
			if !errors.As(err, &e) || !errors.Is(err, boom) {
				t.Fatalf("%s: error %v does not wrap the runner's", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, read{e.Verdict, e.Class, e.Reason, e.Phase, e.Host}); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
			if IsNotStarted(err) != (name == "NotStarted" || name == "Busy" || name == "Fenced") {
				t.Errorf("IsNotStarted(%v) = %v", err, IsNotStarted(err))
			}
			is := map[Verdict]bool{Done: IsDone(err), Retry: IsRetry(err), Unknown: IsUnknown(err), Need: IsNeed(err), Term: IsTerminal(err)}
			for v, yes := range is {
				if yes != (v == tc.want.Verdict) {
					t.Errorf("predicate of %q is %v", v, yes)
				}
			}
			if IsBusy(err) != (tc.want.Class == Busy) || ReasonOf(err) != tc.want.Reason {
				t.Errorf("IsBusy or ReasonOf of %v", err)
			}
		})
	}
}

func TestCreateSpecValidate(t *testing.T) {
	b := func(n int) []Brick { return make([]Brick, n) }
	cases := map[string]struct {
		reason string
		spec   CreateSpec
		ok     bool
	}{
		"Replica":          {"Whole sets.", CreateSpec{Name: "v", Replica: 3, Bricks: b(6)}, true},
		"Arbiter":          {"Two and an arbiter.", CreateSpec{Name: "v", Replica: 3, Arbiter: 1, Bricks: b(3)}, true},
		"Disperse":         {"Two and one.", CreateSpec{Name: "v", Disperse: 3, Redundancy: 1, Bricks: b(3)}, true},
		"Distribute":       {"Any number.", CreateSpec{Name: "v", Bricks: b(1)}, true},
		"NoName":           {"A name is needed.", CreateSpec{Bricks: b(1)}, false},
		"Short":            {"LAB-17.", CreateSpec{Name: "v", Replica: 3, Bricks: b(2)}, false},
		"None":             {"No bricks.", CreateSpec{Name: "v", Replica: 3}, false},
		"ArbiterOfTwo":     {"An arbiter needs two data copies.", CreateSpec{Name: "v", Replica: 2, Arbiter: 1, Bricks: b(2)}, false},
		"Both":             {"They exclude each other.", CreateSpec{Name: "v", Replica: 3, Disperse: 3, Redundancy: 1, Bricks: b(3)}, false},
		"TooMuchRedundant": {"More than half must be data.", CreateSpec{Name: "v", Disperse: 4, Redundancy: 2, Bricks: b(4)}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if err := tc.spec.Validate(); (err == nil) != tc.ok {
				t.Errorf("%s Validate() = %v", tc.reason, err)
			}
		})
	}
	c := NewClient(RunnerFunc(func(context.Context, Command) (Output, error) {
		t.Error("a wrong count reached the server")
		return Output{}, nil
	}))
	if _, err := c.VolumeCreate(t.Context(), "a", CreateSpec{Name: "v", Replica: 3, Bricks: b(2)}); !IsTerminal(err) {
		t.Errorf("VolumeCreate of two bricks: %v", err)
	}
}
