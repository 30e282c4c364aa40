package steps

import (
	"context"
	"sync"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/executor/kube"
	"github.com/gluster/anthill/planner"
)

// reach is look for a step that asks servers itself: nothing is observed.
func (b base) reach(ctx context.Context, t *executor.Turn) (*sight, error) {
	servers, err := b.w.Of(ctx, t.Scope())
	if err != nil {
		return nil, executor.Errorf(executor.Transient, "ServersUnknown", "listing the servers of the pool: %w", err)
	}
	return &sight{servers: servers}, nil
}

// serversMax bounds how many servers eachBrick asks at once.
const serversMax = 32

// eachBrick calls ask for every brick, one after the other on a server and at
// the same time on different ones: a request takes a round trip and a process,
// and most of it is waiting. After an error the rest of that server is left
// out. Returned is the error of the first brick, in their order, that has one.
func (s *sight) eachBrick(bricks []planner.BrickRef, ask func(i int, server kube.Server) error) error {
	errs := make([]error, len(bricks))
	byNode := map[string][]int{}
	var nodes []string
	for i, b := range bricks {
		if byNode[b.Node] == nil {
			nodes = append(nodes, b.Node)
		}
		byNode[b.Node] = append(byNode[b.Node], i)
	}
	var wg sync.WaitGroup
	slots := make(chan struct{}, serversMax)
	for _, node := range nodes {
		server, err := s.server(node)
		if err != nil {
			errs[byNode[node][0]] = err
			continue
		}
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			for _, i := range byNode[node] {
				if errs[i] = ask(i, server); errs[i] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
