package option

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// listed are the keys that GlusterFS 10.3 lists with volume get.
func listed(t *testing.T, s Scope) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + string(s) + "-10.3.txt")
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for line := range strings.Lines(string(text)) {
		k, _, _ := strings.Cut(line, "\t")
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// unlisted are options that 10.3 accepts and does not list; their names are in
// its glusterd.
var unlisted = []string{"cluster.nufa", "cluster.switch", "config.memory-accounting", "config.transport"}

// TestTableIsComplete: every option that 10.3 lists has a class, and the table
// has no option that 10.3 does not know.
func TestTableIsComplete(t *testing.T) {
	for _, s := range []Scope{Volume, Cluster} {
		want := listed(t, s)
		if s == Volume {
			want = append(want, unlisted...)
			slices.Sort(want)
		}
		if diff := cmp.Diff(want, Keys(s)); diff != "" {
			t.Errorf("%s options, -listed +table:\n%s", s, diff)
		}
	}
}

func TestCheckOption(t *testing.T) {
	cases := map[string]struct {
		reason     string
		scope      Scope
		key, value string
		empty      bool
		unknown    bool
		want       Class // Free: accepted; else the class of the refusal
	}{
		"Cache":           {"Speed only.", Volume, "performance.cache-size", "256MB", false, false, Free},
		"AuthAllow":       {"Who may mount.", Volume, "auth.allow", "192.0.2.*", false, false, Free},
		"User":            {"Marks of other programs.", Volume, "user.smb", "enable", false, false, Free},
		"OurMark":         {"Marks of our own.", Volume, "user.anthill.volume", "x", true, true, Never},
		"ShardEmpty":      {"Before there is data.", Volume, "features.shard", "on", true, false, Free},
		"ShardFull":       {"Data becomes unreadable.", Volume, "features.shard", "on", false, false, OnlyEmpty},
		"ShardOff":        {"Also the other way.", Volume, "features.shard", "off", false, false, OnlyEmpty},
		"ShardAnyway":     {"allowUnknown is not allow.", Volume, "features.shard", "on", false, true, OnlyEmpty},
		"HealOn":          {"On is where it is.", Volume, "cluster.self-heal-daemon", "enable", false, false, Free},
		"HealOff":         {"No repair.", Volume, "cluster.self-heal-daemon", "off", true, true, Never},
		"HealZero":        {"Gluster has many words for off.", Volume, "cluster.self-heal-daemon", "0", false, true, Never},
		"HealUpper":       {"In any case of letters.", Volume, "cluster.self-heal-daemon", "OFF", false, true, Never},
		"HealShort":       {"Gluster completes short names.", Volume, "self-heal-daemon", "off", false, true, Never},
		"DisperseHealOff": {"No repair either.", Volume, "cluster.disperse-self-heal-daemon", "disable", false, false, Never},
		"QuorumAuto":      {"Auto is where it is.", Volume, "cluster.quorum-type", "auto", false, false, Free},
		"QuorumNone":      {"Split brain.", Volume, "cluster.quorum-type", "none", false, true, Never},
		"QuorumFixed":     {"One of one's own.", Volume, "cluster.quorum-type", "fixed", false, false, Never},
		"ServerQuorum":    {"Bricks stop.", Volume, "cluster.server-quorum-type", "server", false, true, Never},
		"ReadOnly":        {"Clients cannot write.", Volume, "features.read-only", "on", false, true, Never},
		"FavoriteChild":   {"Throws a copy away.", Volume, "cluster.favorite-child-policy", "mtime", false, true, Never},
		"Reserve":         {"A brick never fills up.", Volume, "storage.reserve", "0", false, false, Never},
		"ReserveTen":      {"More is fine.", Volume, "storage.reserve", "10", false, false, Free},
		"PingZero":        {"Clients would hang.", Volume, "network.ping-timeout", "0", false, false, Never},
		"Group":           {"A file of options.", Volume, "group", "virt", false, true, Never},
		"DebugUnlisted":   {"A family.", Volume, "debug.some-new-fault", "on", false, true, Never},
		"Unlisted":        {"In no table.", Volume, "performance.brand-new", "on", false, false, Unknown},
		"UnlistedAllowed": {"At one's own risk.", Volume, "performance.brand-new", "on", false, true, Free},
		"ClusterOnVolume": {"Of the whole pool.", Volume, "cluster.brick-multiplex", "on", false, true, Never},
		"Multiplex":       {"R9.", Cluster, "cluster.brick-multiplex", "on", false, false, Free},
		"Halo":            {"F17: not of the pool.", Cluster, "cluster.halo-enabled", "on", false, false, Never},
		"HaloAnyway":      {"Nor with allowUnknown.", Cluster, "cluster.halo-enabled", "on", false, true, Never},
		"OpVersion":       {"Upgrades only.", Cluster, "cluster.op-version", "100000", false, true, Never},
		"RatioHalf":       {"Half is no majority.", Cluster, "cluster.server-quorum-ratio", "50%", false, false, Never},
		"RatioMajority":   {"A majority is.", Cluster, "cluster.server-quorum-ratio", "51%", false, false, Free},
		"ClusterUser":     {"volume set all user.x fails in the commit.", Cluster, "user.x", "y", false, false, Never},
		"EmptyValue":      {"Usage to gluster.", Volume, "performance.cache-size", "", false, false, Never},
		"LineBreak":       {"It would break get-state and the info file.", Volume, "user.x", "a\nb", false, false, Never},
		"Flag":            {"Gluster would take it for its own.", Volume, "user.x", "--remote-host=evil", false, true, Never},
		"KeyIsFlag":       {"Likewise.", Volume, "--xml.x", "on", false, true, Never},
		"KeyWithBlank":    {"No option has one.", Volume, "performance.cache-size x", "1", false, true, Never},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := CheckOption(tc.scope, tc.key, tc.value, tc.empty, tc.unknown)
			var e *Error
			switch {
			case tc.want == Free && err != nil:
				t.Errorf("%s Refused: %v", tc.reason, err)
			case tc.want != Free && !errors.As(err, &e):
				t.Errorf("%s Accepted, got %v", tc.reason, err)
			case tc.want != Free && (e.Class != tc.want || e.Reason == ""):
				t.Errorf("%s Class %s (%v), want %s", tc.reason, e.Class, err, tc.want)
			}
		})
	}
}

func TestCheckReset(t *testing.T) {
	cases := map[string]struct {
		reason string
		scope  Scope
		key    string
		ok     bool
	}{
		"Cache":    {"Speed only.", Volume, "performance.cache-size", true},
		"Shard":    {"Resetting is changing.", Volume, "features.shard", false},
		"Unknown":  {"It was ours to set.", Volume, "performance.brand-new", true},
		"Our mark": {"Never.", Volume, "user.anthill.volume", false},
		"HealOn":   {"The default is on.", Volume, "cluster.self-heal-daemon", true},
		"Cluster":  {"Speed only.", Cluster, "cluster.brick-multiplex", true},
		"Short":    {"Gluster completes it.", Volume, "shard", false},
		"User":     {"10.3 says that the option does not exist.", Volume, "user.smb", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if err := CheckReset(tc.scope, tc.key); (err == nil) != tc.ok {
				t.Errorf("%s CheckReset() = %v", tc.reason, err)
			}
		})
	}
}

// TestEveryRefusalExplains: a person can act on each refusal of the table.
func TestEveryRefusalExplains(t *testing.T) {
	for s, table := range tables {
		for k, e := range table {
			if (e.class == Never || e.rule != nil) && e.why == "" {
				t.Errorf("%s option %s: refused without a reason", s, k)
			}
			if e.rule != nil && e.accept == "" {
				t.Errorf("%s option %s: does not say which values are accepted", s, k)
			}
		}
	}
}

// TestNoWayAround: whatever the flags and the value, a Never key stays refused,
// and refusals are one bounded line.
func TestNoWayAround(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom([]Scope{Volume, Cluster}).Draw(t, "scope")
		key := rapid.OneOf(rapid.SampledFrom(Keys(s)), rapid.String()).Draw(t, "key")
		value := rapid.String().Draw(t, "value")
		empty, unknown := rapid.Bool().Draw(t, "empty"), rapid.Bool().Draw(t, "unknown")
		err := CheckOption(s, key, value, empty, unknown)
		if err == nil && (ClassOf(s, key) == Never || !strings.Contains(key, ".") || ClassOf(s, key) == OnlyEmpty && !empty || ClassOf(s, key) == Unknown && !unknown) {
			t.Fatalf("%s option %q = %q was accepted", s, key, value)
		}
		if err != nil && (strings.ContainsAny(err.Error(), "\n\r") || len(err.Error()) > 1500) {
			t.Fatalf("not one bounded line: %q", err)
		}
	})
}
