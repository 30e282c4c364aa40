package cluster

import (
	"errors"
	"fmt"
	"hash/fnv"
	"net/netip"
)

// podsTried bounds the search for a range that nothing else uses.
const podsTried = 64

// errNoRange is returned when nothing is free.
var errNoRange = errors.New("no free range for pods")

// choosePods returns the first free of the ranges 100.64-127.x.0/20 that follow
// from the environment's id. They are addresses that no site routes (RFC 6598).
func choosePods(id string, taken []netip.Prefix) (netip.Prefix, error) {
	h := fnv.New32a()
	h.Write([]byte(id))
	for try := range uint32(podsTried) {
		// An odd stride visits all 2^10 ranges before it repeats one.
		at := (h.Sum32() + try*331) % 1024
		p := netip.PrefixFrom(netip.AddrFrom4([4]byte{100, byte(64 + at/16), byte(at % 16 * 16), 0}), 20)
		free := true
		for _, t := range taken {
			free = free && !t.Overlaps(p)
		}
		if free {
			return p, nil
		}
	}
	return netip.Prefix{}, fmt.Errorf("choosing a range for pods: the %d tried in 100.64.0.0/10 are all in use: %w", podsTried, errNoRange)
}

// podsOf is the part of the range that node n has, counted from 1.
func podsOf(all netip.Prefix, n int) netip.Prefix {
	a := all.Addr().As4()
	a[2] += byte(n - 1)
	return netip.PrefixFrom(netip.AddrFrom4(a), 24)
}
