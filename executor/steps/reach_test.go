package steps

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/executor/kube"
	"github.com/gluster/anthill/planner"
)

func bricksOn(nodes string) []planner.BrickRef {
	var out []planner.BrickRef
	for n := range strings.FieldsSeq(nodes) {
		out = append(out, planner.BrickRef{Node: n})
	}
	return out
}

func TestEachBrick(t *testing.T) {
	s := &sight{servers: []kube.Server{{Node: "n1"}, {Node: "n2"}, {Node: "n3", Problem: &kube.Problem{Reason: "LoginRefused", Message: "no"}}}}
	bad := func(i int) error { return executor.Errorf(executor.Transient, "Bad", "brick %d", i) }
	cases := map[string]struct {
		reason string
		bricks string
		fail   []int
		asked  []int
		want   string
	}{
		"All":          {"every brick is asked after once", "n1 n2 n1 n2", nil, []int{0, 1, 2, 3}, ""},
		"None":         {"there may be none", "", nil, nil, ""},
		"First":        {"the rest of that server is left out, other servers are not", "n1 n2 n1 n2", []int{0}, []int{0, 1, 3}, "brick 0"},
		"InTheirOrder": {"which server answered first makes no difference", "n1 n2 n1 n2", []int{1, 2}, []int{0, 1, 2}, "brick 1"},
		"NotReached":   {"a server that cannot be reached is not asked", "n1 n3 n3", nil, []int{0}, "server n3: no"},
		"Gone":         {"nor one that is gone", "n9 n1", nil, []int{1}, "there is no GlusterNode n9 any more"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			bricks := bricksOn(tc.bricks)
			var mu sync.Mutex
			var asked []int
			err := s.eachBrick(bricks, func(i int, server kube.Server) error {
				mu.Lock()
				defer mu.Unlock()
				if server.Node != bricks[i].Node {
					t.Errorf("brick %d of %s was asked after on %s", i, bricks[i].Node, server.Node)
				}
				asked = append(asked, i)
				if slices.Contains(tc.fail, i) {
					return bad(i)
				}
				return nil
			})
			slices.Sort(asked)
			if !slices.Equal(asked, tc.asked) {
				t.Errorf("%s: asked after %v, want %v", tc.reason, asked, tc.asked)
			}
			var e *executor.Error
			switch {
			case tc.want == "" && err != nil, tc.want != "" && (!errors.As(err, &e) || err.Error() != tc.want):
				t.Errorf("%s: %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}

// TestEachBrickAsksServersAtTheSameTime: each of them waits for the others.
func TestEachBrickAsksServersAtTheSameTime(t *testing.T) {
	s := &sight{servers: []kube.Server{{Node: "n1"}, {Node: "n2"}, {Node: "n3"}}}
	var all sync.WaitGroup
	all.Add(3)
	if err := s.eachBrick(bricksOn("n1 n2 n3"), func(int, kube.Server) error {
		all.Done()
		all.Wait()
		return nil
	}); err != nil {
		t.Error(err)
	}
}
