package steps

import (
	"context"
	"errors"
	"testing"

	"github.com/gluster/anthill/executor"
	"github.com/gluster/anthill/executor/gate"
	"github.com/gluster/anthill/executor/kube"
	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/view"
)

// uploading is a server whose transport can tell of installations.
type uploading struct {
	gate.Server
	yes bool
	err error
}

func (u uploading) Installing(context.Context) (bool, error) { return u.yes, u.err }

// unwatched is a server whose transport cannot.
type unwatched struct{ gate.Server }

// oneServer is a world of one server.
type oneServer struct {
	World
	server  kube.Server
	changed int
}

func (w *oneServer) Of(context.Context, string) ([]kube.Server, error) {
	return []kube.Server{w.server}, nil
}

func (w *oneServer) Changed(string) { w.changed++ }

// An upload is over once none is under way, and what was seen before that does
// not count any more.
func TestInstallIsOverWhenNoneIsUnderWay(t *testing.T) {
	cases := map[string]struct {
		reason string
		gate   gate.Server
		over   bool
		fails  bool
	}{
		"UnderWay":   {reason: "it may still come into place", gate: uploading{yes: true}},
		"AtRest":     {"nothing more can come", uploading{}, true, false},
		"Unanswered": {"who cannot ask does not know", uploading{err: errors.New("no route")}, false, true},
		"NoWatcher":  {"a transport that waits for the end itself has none under way", unwatched{}, true, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := &oneServer{server: kube.Server{Node: "n1", Gate: tc.gate}}
			turn := &executor.Turn{Op: &view.Op{}, Step: &view.Step{}, Started: &journal.Started{Originator: "n1"},
				Params: []byte(`{"node":"n1"}`)}
			over, message, err := installGate{base{w}}.Over(t.Context(), turn)
			if over != tc.over || (err != nil) != tc.fails || !over && err == nil && message == "" {
				t.Errorf("%s: over %v, %q, %v; want over %v", tc.reason, over, message, err, tc.over)
			}
			if _, watched := tc.gate.(gate.Watcher); watched && (w.changed > 0) != tc.over {
				t.Errorf("%s: what was observed was given up %d times", tc.reason, w.changed)
			}
		})
	}
}
