package steps

import (
	"context"
	"slices"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/planner"
)

// resolveNames waits until every server that is to be in one pool resolves
// every other's address, and its own to itself: peers and bricks are named by
// it, and a name that means something else there joins the wrong server or none
// (cases 22, 23). Pods must also find a name for every other's address.
type resolveNames struct{ base }

// Probe asks each server.
func (b resolveNames) Probe(ctx context.Context, t *executor.Turn) (executor.Observation, error) {
	var p planner.NamesParams
	if err := t.Decode(&p); err != nil {
		return executor.Observation{}, err
	}
	s, err := b.reach(ctx, t)
	if err != nil {
		return executor.Observation{}, err
	}
	names := make([]string, len(p.Members))
	for i, m := range p.Members {
		names[i] = m.Address
	}
	addrs := map[string][]string{} // name -> addresses, as the first server sees it
	for _, m := range p.Members {
		server, err := s.server(m.Node)
		if err != nil {
			return executor.Observation{}, err
		}
		resolved, err := b.client(server, t).Resolve(ctx, names...)
		if err != nil {
			return executor.Observation{}, gateError(err)
		}
		for _, r := range resolved {
			switch {
			case r.Error != "" || len(r.Addrs) == 0:
				return seenAs(executor.NotDone, "%s does not resolve %s: %s", m.Node, r.Name, r.Error), nil
			case r.Local != (r.Name == m.Address):
				if r.Local {
					return seenAs(executor.NotDone, "%s resolves %s, the address of another node, to itself", m.Node, r.Name), nil
				}
				return seenAs(executor.NotDone, "%s resolves its own address %s to %s, which is not its own", m.Node, r.Name, list(r.Addrs)), nil
			}
			slices.Sort(r.Addrs)
			if r.Name == m.Address {
				continue // may be a loopback address there
			}
			// glusterd looks up who a connection comes from, and reconnects to what
			// it then wrote down first. With an address of a pod it would look for
			// the peer where it no longer is.
			if server.Pod && len(r.Reverse) == 0 {
				return seenAs(executor.NotDone, "%s finds no name for %s, the address of %s", m.Node, list(r.Addrs), r.Name), nil
			}
			if first, ok := addrs[r.Name]; ok && !slices.Equal(first, r.Addrs) {
				return seenAs(executor.NotDone, "%s resolves %s to %s, another server to %s", m.Node, r.Name, list(r.Addrs), list(first)), nil
			}
			addrs[r.Name] = r.Addrs
		}
	}
	return seenAs(executor.Done, "all names resolve on all servers"), nil
}
