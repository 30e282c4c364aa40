package gluster

import (
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestHistoryFind(t *testing.T) {
	log, err := os.ReadFile("testdata/10.3/cmd_history.txt")
	if err != nil {
		t.Fatal(err)
	}
	at := func(s string) time.Time {
		v, err := time.Parse(time.RFC3339Nano, "2026-12-01T"+s+"Z")
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	v1 := []Brick{{Host: "s1", Path: "/bricks/b2/v/c/brick"}, {Host: "s2", Path: "/bricks/b2/v/c/brick"}, {Host: "s3", Path: "/bricks/b2/v/c/brick"}}
	cases := map[string]struct {
		reason string
		argv   []string
		since  time.Time
		want   Outcome
		found  bool
	}{
		"Success": {
			"The log has trailing blanks after SUCCESS.", ArgvPeerProbe("s2"), at("00:58:00"),
			Outcome{At: at("00:58:52.621438"), Command: "peer probe s2", Succeeded: true}, true,
		},
		"SuccessWithText": {
			"The first one counts from then on.", ArgvPeerProbe("s2"), at("00:58:53"),
			Outcome{At: at("00:58:54.870355"), Command: "peer probe s2", Succeeded: true, Text: "Host s2 port 24007 already in peer list"}, true,
		},
		"TooOld": {"What was before does not count.", ArgvPeerProbe("s2"), at("00:58:55"), Outcome{}, false},
		"Failed": {
			"The reason is behind it.", ArgvVolumeSet("nosuch", "user.x", "y"), at("00:58:00"),
			Outcome{At: at("00:59:00.048038"), Command: "volume set nosuch user.x y", Text: "Volume nosuch does not exist"}, true,
		},
		"SeveralLines": {
			"A text can go on over several lines.", ArgvRebalanceStart("v1"), at("00:58:00"),
			Outcome{At: at("00:59:07.610144"), Command: "volume rebalance v1 start", Text: "Volume v1 is not a distribute volume or contains only 1 brick. Not performing rebalance"}, true,
		},
		"ColonInText": {
			"A colon in the text is not a separator.", ArgvVolumeSet("v1", "cluster.nosuch", "on"), at("00:58:00"),
			Outcome{At: at("00:58:59.789792"), Command: "volume set v1 cluster.nosuch on", Text: "option : cluster.nosuch does not exist Did you mean cluster.nufa or ...switch?"}, true,
		},
		"Longer": {"Another command that begins alike is another.", ArgvVolumeStart("v", false), at("00:58:00"), Outcome{}, false},
		"ForceIsOther": {
			"Force is another command.", ArgvVolumeStart("v1", true), at("00:58:00"),
			Outcome{At: at("00:59:03.374012"), Command: "volume start v1 force", Succeeded: true}, true,
		},
		"AddBrick": {
			"Many words.", ArgvAddBrick("v1", v1), at("00:58:00"),
			Outcome{At: at("00:59:08.610684"), Command: "volume add-brick v1 s1:/bricks/b2/v/c/brick s2:/bricks/b2/v/c/brick s3:/bricks/b2/v/c/brick", Succeeded: true}, true,
		},
		"Never": {"Reads are not logged.", ArgvVolumeInfo(""), at("00:58:00"), Outcome{}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, found := HistoryFind(log, tc.argv, tc.since)
			if diff := cmp.Diff(tc.want, got); found != tc.found || diff != "" {
				t.Errorf("%s found=%v, -want +got:\n%s", tc.reason, found, diff)
			}
		})
	}
	if all := HistoryAll(log, ArgvVolumeStart("v1", false), at("00:58:00")); len(all) != 2 || !all[0].Succeeded || all[1].Succeeded {
		t.Errorf("a command sent twice has two outcomes, got %+v", all)
	}
}

func TestHistoryOfAwkwardValues(t *testing.T) {
	argv := ArgvVolumeSet("v", "user.x", "a : SUCCESS : b")
	log := "half a line : SUCCESS\n" +
		"[2026-12-01 00:00:01.000000 +0000]  : volume set v user.x a : SUCCESS : b : FAILED : no\n" +
		"[2026-12-01 00:00:02.000000 +0000]  : volume set v user.x a : SUCCESS\n" +
		"[not a time]  : volume set v user.x a : SUCCESS\n"
	got := HistoryAll([]byte(log), argv, time.Time{})
	if len(got) != 1 || got[0].Succeeded || got[0].Text != "no" {
		t.Errorf("got %+v", got)
	}
}
