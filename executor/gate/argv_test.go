package gate

import (
	"slices"
	"strings"
	"testing"
)

func TestAllowed(t *testing.T) {
	cases := map[string]struct {
		reason string
		verb   Verb
		argv   string
		want   bool
	}{
		"Info":              {"a plain read", Read, "gluster --mode=script --xml volume info v1", true},
		"InfoAll":           {"all volumes", Read, "gluster volume info", true},
		"OptionsAfter":      {"options may follow", Read, "gluster pool list --xml --timeout=5", true},
		"HealSummary":       {"inside a guard", Read, "gluster --xml volume heal v1 info summary", true},
		"GetAll":            {"all options", Read, "gluster volume get v1 all", true},
		"StatusDetail":      {"one brick", Read, "gluster volume status v1 n1:/b/x/brick detail", true},
		"RemoveStatus":      {"bricks repeat", Read, "gluster volume remove-brick v1 n1:/b/1 n2:/b/1 status", true},
		"RemoveStatusCount": {"with a replica count", Read, "gluster volume remove-brick v1 replica 2 n1:/b/1 status", true},
		"Version":           {"no word before", Read, "gluster --version", true},

		"OtherProgram":   {"only gluster", Read, "sh -c id", false},
		"Path":           {"argv[0] is a name, the gate knows the path", Read, "/tmp/gluster pool list", false},
		"Empty":          {"no command", Read, "", false},
		"Bare":           {"would be interactive", Read, "gluster", false},
		"SetAsRead":      {"a mutation is no read", Read, "gluster --mode=script volume set v1 k v", false},
		"StartAsRead":    {"rebalance start is no status", Read, "gluster volume rebalance v1 start", false},
		"RemoveAsRead":   {"remove-brick start is no status", Read, "gluster volume remove-brick v1 n1:/b/1 start", false},
		"GetState":       {"it writes a file: Observe does it", Read, "gluster get-state", false},
		"UUIDGet":        {"it makes the UUID", Read, "gluster system:: uuid get", false},
		"RemoteHost":     {"another server has a gate of its own", Read, "gluster --remote-host=n2 pool list", false},
		"LogFile":        {"it would write anywhere", Read, "gluster --log-file=/etc/passwd pool list", false},
		"GlusterdSock":   {"another daemon", Read, "gluster --glusterd-sock=/x pool list", false},
		"TimeoutWord":    {"a number is needed", Read, "gluster --timeout=x pool list", false},
		"TimeoutHuge":    {"bounded", Read, "gluster --timeout=999999 pool list", false},
		"HealFullAsRead": {"it starts a crawl", Read, "gluster volume heal v1 full", false},
		"Statedump":      {"it writes files", Read, "gluster volume statedump v1", false},

		"Probe":         {"a mutation", Run, "gluster --mode=script --xml peer probe n2.example", true},
		"ProbeV6":       {"an address", Run, "gluster --mode=script peer probe fd00::2", true},
		"Create":        {"a set", Run, "gluster --mode=script volume create v1 replica 3 n1:/b/x/0-0-0/brick n2:/b/x/0-1-0/brick n3:/b/x/0-2-0/brick", true},
		"CreateTCP":     {"transport spelled out", Run, "gluster --mode=script volume create v1 replica 3 arbiter 1 transport tcp n1:/b n2:/b n3:/b", true},
		"CreateDisp":    {"disperse", Run, "gluster --mode=script volume create v1 disperse 3 redundancy 1 n1:/b n2:/b n3:/b", true},
		"AddBrick":      {"whole sets", Run, "gluster --mode=script volume add-brick v1 n1:/b n2:/b n3:/b", true},
		"SetOne":        {"one option", Run, "gluster --mode=script volume set v1 user.anthill.volume x", true},
		"SetPairs":      {"several", Run, "gluster --mode=script volume set v1 a 1 b 2 c 3", true},
		"SetSpaces":     {"a value is anybody's text", Run, "gluster --mode=script volume set v1 auth.allow|10.0.0.1, 10.0.0.2", true},
		"SetAll":        {"a cluster option", Run, "gluster --mode=script volume set all cluster.brick-multiplex off", true},
		"ResetKey":      {"a key we applied", Run, "gluster --mode=script volume reset v1 a", true},
		"StartForce":    {"revives a brick", Run, "gluster --mode=script volume start v1 force", true},
		"Rebalance":     {"start", Run, "gluster --mode=script volume rebalance v1 start", true},
		"MakeUUID":      {"the first node", Run, "gluster --mode=script system:: uuid get", true},
		"Interactive":   {"nobody answers questions", Run, "gluster volume stop v1", false},
		"CreateForce":   {"never force", Run, "gluster --mode=script volume create v1 n1:/b force", false},
		"AddForce":      {"never force", Run, "gluster --mode=script volume add-brick v1 n1:/b force", false},
		"AddReplica":    {"no raising of the replica count yet", Run, "gluster --mode=script volume add-brick v1 replica 3 n1:/b", false},
		"StopForce":     {"never force", Run, "gluster --mode=script volume stop v1 force", false},
		"RebalForce":    {"never force", Run, "gluster --mode=script volume rebalance v1 start force", false},
		"ResetAll":      {"only keys we applied", Run, "gluster --mode=script volume reset v1", false},
		"Detach":        {"not used yet", Run, "gluster --mode=script peer detach n2", false},
		"RemoveCommit":  {"not used yet", Run, "gluster --mode=script volume remove-brick v1 n1:/b commit", false},
		"SetHalf":       {"a key without value", Run, "gluster --mode=script volume set v1 a 1 b", false},
		"SetNoKey":      {"help is a read", Run, "gluster --mode=script volume set help", false},
		"BrickRelative": {"bricks are absolute", Run, "gluster --mode=script volume create v1 n1:b", false},
		"BrickDots":     {"and clean", Run, "gluster --mode=script volume create v1 n1:/b/../etc", false},
		"VolumeOption":  {"a name that looks like an option", Run, "gluster --mode=script volume stop -v", false},
		"VolumePath":    {"a name is one element", Run, "gluster --mode=script volume delete ../v1", false},
		"Newline":       {"control characters", Run, "gluster --mode=script volume set v1 a x\ny", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			argv := strings.FieldsFunc(tc.argv, func(r rune) bool { return r == ' ' })
			// A bar stands before one value with spaces in it.
			if before, value, ok := strings.Cut(tc.argv, "|"); ok {
				argv = append(strings.Fields(before), value)
			}
			if err := Allowed(tc.verb, argv); (err == nil) != tc.want {
				t.Errorf("%s: Allowed(%s, %q) = %v, want accepted %t", tc.reason, tc.verb, argv, err, tc.want)
			}
		})
	}
}

func TestAllowedIsBounded(t *testing.T) {
	bricks := slices.Repeat([]string{"n1:/b/brick"}, 1000)
	argv := append([]string{"gluster", "--mode=script", "volume", "add-brick", "v1"}, bricks...)
	if err := Allowed(Run, argv); err != nil {
		t.Errorf("a thousand bricks: %v", err)
	}
	if err := Allowed(Run, append(argv, slices.Repeat(bricks, 4)...)); err == nil {
		t.Error("five thousand bricks: accepted")
	}
	if err := Allowed(Run, []string{"gluster", "--mode=script", "volume", "set", "v1", "k", strings.Repeat("x", argSizeMax+1)}); err == nil {
		t.Error("a value of more than 4 KiB: accepted")
	}
}
