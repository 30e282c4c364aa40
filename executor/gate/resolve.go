package gate

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	resolveWait     = 5 * time.Second
	resolveParallel = 8
	reverseMax      = 4 // addresses of one name looked up backwards
)

// resolve answers Resolve.
func (g *gate) resolve(ctx context.Context, req Request) (Reply, error) {
	for _, n := range req.Names {
		if !clean(n, 253) {
			return Reply{}, refusef(ExitUsage, ReasonUsage, "%.40q is not a name", n)
		}
	}
	own, err := ownAddrs()
	if err != nil {
		return Reply{}, err
	}
	out := make([]Resolved, len(req.Names))
	slots := make(chan struct{}, resolveParallel)
	var wg sync.WaitGroup
	for i, n := range req.Names {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			out[i] = g.resolveOne(ctx, n, own)
		})
	}
	wg.Wait()
	return Reply{Resolved: out}, nil
}

func (g *gate) resolveOne(ctx context.Context, name string, own map[string]bool) Resolved {
	ctx, cancel := context.WithTimeout(ctx, resolveWait)
	defer cancel()
	r := Resolved{Name: name}
	addrs, err := g.Resolver.LookupHost(ctx, name)
	if err != nil {
		r.Error = oneLine(err.Error())
		return r
	}
	slices.Sort(addrs)
	r.Addrs = slices.Compact(addrs)
	for i, a := range r.Addrs {
		// glusterd takes the whole loopback network as itself.
		if ip := net.ParseIP(a); ip != nil && (ip.IsLoopback() || own[ip.String()]) {
			r.Local = true
		}
		if i >= reverseMax {
			continue
		}
		// No name for an address is an answer, not a failure.
		names, err := g.Resolver.LookupAddr(ctx, a)
		if err != nil {
			continue
		}
		for _, n := range names {
			r.Reverse = append(r.Reverse, strings.TrimSuffix(n, "."))
		}
	}
	slices.Sort(r.Reverse)
	r.Reverse = slices.Compact(r.Reverse)
	return r
}

// ownAddrs are the addresses of this server's interfaces.
func ownAddrs() (map[string]bool, error) {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("listing this server's addresses: %w", err)
	}
	own := make(map[string]bool, len(addrs))
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok {
			own[n.IP.String()] = true
		}
	}
	return own, nil
}
