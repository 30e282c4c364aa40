package local

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestChooseSubnet(t *testing.T) {
	first, err := chooseSubnet("0000ff", nil)
	must(t, err)
	cases := map[string]struct {
		reason string
		taken  []netip.Prefix
		moves  bool
		fails  bool
	}{
		"Free":      {reason: "with nothing in the way the id decides"},
		"Elsewhere": {reason: "other subnets are not in the way", taken: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/16"), netip.MustParsePrefix("192.168.0.0/16")}},
		"Same":      {reason: "a subnet in use is passed over", taken: []netip.Prefix{netip.MustParsePrefix(first + ".0/24")}, moves: true},
		"Part":      {reason: "so is one of which a part is in use", taken: []netip.Prefix{netip.MustParsePrefix(first + ".128/25")}, moves: true},
		"Around":    {reason: "and one inside of a wider network", taken: []netip.Prefix{netip.MustParsePrefix(first + ".0/20")}, moves: true},
		"All":       {reason: "the search is bounded", taken: []netip.Prefix{netip.MustParsePrefix("10.64.0.0/10")}, fails: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := chooseSubnet("0000ff", tc.taken)
			if tc.fails {
				if err == nil {
					t.Errorf("%s: got %q, want an error", tc.reason, got)
				}
				return
			}
			must(t, err)
			if (got != first) != tc.moves {
				t.Errorf("%s: got %q after %q", tc.reason, got, first)
			}
			p := netip.MustParsePrefix(got + ".0/24")
			for _, taken := range tc.taken {
				if p.Overlaps(taken) {
					t.Errorf("%s: %v overlaps %v", tc.reason, p, taken)
				}
			}
		})
	}
}

func TestRoutesTakenLeavesOutWideNetworks(t *testing.T) {
	taken, err := RoutesTaken()
	must(t, err)
	for _, p := range taken {
		if p.Addr().Is4() && p.Bits() < 9 {
			t.Errorf("%v is listed: a network that wide must not be in the way", p)
		}
	}
}

func TestNamesFitTheKernel(t *testing.T) {
	const nameMax = 15 // IFNAMSIZ less the final zero
	n := network{id: "abcdef", net: "10.64.0"}
	for _, key := range []string{"s1", "s99", "c153"} {
		if got := n.port(key); len(got) > nameMax {
			t.Errorf("link name %q has %d characters, more than %d", got, len(got), nameMax)
		}
	}
	want := []string{"02:ab:cd:ef:00:00", "02:ab:cd:ef:00:63", "10.64.0.254"}
	if diff := cmp.Diff(want, []string{n.mac(0), n.mac(99), n.addr(hostNumber)}); diff != "" {
		t.Errorf("addresses (-want +got):\n%s", diff)
	}
}
