package cluster

import (
	"errors"
	"net/netip"
	"testing"
)

func TestChoosePods(t *testing.T) {
	first, err := choosePods("abcdef", nil)
	must(t, err)
	if all := netip.MustParsePrefix("100.64.0.0/10"); first.Bits() != 20 || !all.Contains(first.Addr()) || first.Masked() != first {
		t.Errorf("chose %s, want a /20 in %s", first, all)
	}
	if again, err := choosePods("abcdef", nil); err != nil || again != first {
		t.Errorf("the same id gets %s, then %s (%v)", first, again, err)
	}
	second, err := choosePods("abcdef", []netip.Prefix{first})
	must(t, err)
	if second.Overlaps(first) {
		t.Errorf("chose %s, which is taken by %s", second, first)
	}
	if _, err := choosePods("abcdef", []netip.Prefix{netip.MustParsePrefix("100.64.0.0/10")}); !errors.Is(err, errNoRange) {
		t.Errorf("all is taken: %v, want %v", err, errNoRange)
	}
}

func TestNodesShareNoPods(t *testing.T) {
	all := netip.MustParsePrefix("100.68.48.0/20")
	seen := map[netip.Prefix]bool{}
	for n := 1; n <= NodesMax; n++ {
		p := podsOf(all, n)
		if seen[p] || !all.Contains(p.Addr()) || p.Masked() != p {
			t.Errorf("node %d has %s of %s", n, p, all)
		}
		seen[p] = true
	}
}
