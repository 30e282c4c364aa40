package executor

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"

	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/journaltest"
)

// anchors is an anchor in memory with the same precondition as the real one.
type anchors struct {
	a     Anchor
	err   error
	moves int // other writers' fences that slip in between Load and Store
}

func (s *anchors) Load(context.Context, string) (Anchor, error) {
	a := s.a
	a.Read = a.Fence
	return a, s.err
}

func (s *anchors) Store(_ context.Context, _ string, a Anchor) error {
	if s.moves > 0 {
		s.moves--
		s.a.Fence++
	}
	if a.Read != s.a.Fence {
		return ErrAnchorMoved
	}
	takeOver := s.a.TakeOver
	s.a = a
	s.a.TakeOver = takeOver
	return nil
}

// gates are gates in memory.
type gates struct {
	guards []Guard
	raised map[string]uint64
	refuse map[string]error
}

func (g *gates) Survey(context.Context, string) ([]Guard, error) { return g.guards, nil }

func (g *gates) Raise(_ context.Context, _, node string, fence uint64, takeOver string) error {
	if err := g.refuse[node]; err != nil {
		return err
	}
	for i := range g.guards {
		v := &g.guards[i]
		if v.Node != node {
			continue
		}
		if v.Fence > fence || (v.Instance != "me" && v.Instance != takeOver) {
			return Errorf(Fenced, "LowerFence", "lower")
		}
		v.Fence, v.Instance = fence, "me"
	}
	if g.raised == nil {
		g.raised = map[string]uint64{}
	}
	g.raised[node] = fence
	return nil
}

func fences(t *testing.T, j *journal.Journal, a *anchors, g *gates) *Fences {
	t.Helper()
	return &Fences{Journal: j, Epoch: j.Epoch(), Anchors: a, Gates: g, Instance: "me", Clock: WallClock{}, Log: logr.Discard()}
}

func TestFenceIsAboveEverythingSeen(t *testing.T) {
	j := journaltest.Open(t)
	a := &anchors{a: Anchor{Instance: "me", JournalID: j.ID(), Fence: 4, Seq: 1, Hash: mustHash(t, j, 1)}}
	g := &gates{guards: []Guard{{Node: "n1", Claimed: true, Instance: "me", Fence: 9}, {Node: "n2", Claimed: true, Instance: "me", Fence: 3}, {Node: "n3"}}}
	f := fences(t, j, a, g)
	rebuilt := ""
	f.Rebuilt = func(_, why string) { rebuilt = why }
	fence, err := f.Ensure(t.Context(), "pool")
	if err != nil || fence != 10 {
		t.Fatalf("fence %d, %v; want 10, one above the highest gate", fence, err)
	}
	if a.a.Fence != 10 || j.MaxFence("pool") != 10 || g.raised["n1"] != 10 || g.raised["n2"] != 10 {
		t.Errorf("anchor %d, journal %d, raised %v; want 10 everywhere", a.a.Fence, j.MaxFence("pool"), g.raised)
	}
	if _, ok := g.raised["n3"]; ok {
		t.Error("a server that was never claimed was raised")
	}
	if rebuilt != "" {
		t.Errorf("journal called rebuilt: %s", rebuilt)
	}
	if again, err := f.Ensure(t.Context(), "pool"); err != nil || again != 10 {
		t.Errorf("second Ensure: %d, %v; want the same fence", again, err)
	}
}

func mustHash(t *testing.T, j *journal.Journal, seq journal.Seq) string {
	t.Helper()
	h, err := j.HashAt(seq)
	if err != nil {
		t.Fatal(err)
	}
	return h.String()
}

func TestFenceRefusals(t *testing.T) {
	cases := map[string]struct {
		reason  string
		anchors anchors
		guards  []Guard
		refuse  map[string]error
		class   Class
		want    string
		text    string
	}{
		"OtherInstance": {reason: "a pool of another instance is left alone",
			anchors: anchors{a: Anchor{Instance: "they", JournalID: "x", Fence: 4}},
			class:   Fenced, want: ReasonOtherInstance, text: "take-over=they"},
		"OtherInstanceOnAServer": {reason: "the anchor may be lost; the gates know",
			guards: []Guard{{Node: "n1", Claimed: true, Instance: "they", Fence: 4}},
			class:  Fenced, want: ReasonOtherInstance, text: "take-over=they"},
		"ConnectedMemberAway": {reason: "nothing is changed while a connected member would still obey an older operator",
			guards: []Guard{{Node: "n1", Claimed: true, Instance: "me", Fence: 1}, {Node: "n2", Err: errors.New("no route"), Connected: true}},
			class:  Transient, want: ReasonFenceIncomplete, text: "n2"},
		"RaisedMeanwhile": {reason: "a gate with a higher fence has seen a newer operator",
			guards: []Guard{{Node: "n1", Claimed: true, Instance: "me", Fence: 1}},
			refuse: map[string]error{"n1": Errorf(Fenced, "LowerFence", "lower")},
			class:  Fenced, want: ReasonSucceeded, text: "n1"},
		"AnchorMoved": {reason: "of two that start at once one loses",
			anchors: anchors{a: Anchor{Instance: "me"}, moves: 1},
			class:   Transient, want: ReasonFenceIncomplete, text: "in between"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			j := journaltest.Open(t)
			_, err := fences(t, j, &c.anchors, &gates{guards: c.guards, refuse: c.refuse}).Ensure(t.Context(), "pool")
			class, reason := ClassOf(err, false)
			if err == nil || class != c.class || reason != c.want || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%s: %v (%s, %s); want class %s, reason %s, text with %q", c.reason, err, class, reason, c.class, c.want, c.text)
			}
		})
	}
}

func TestTakeOver(t *testing.T) {
	j := journaltest.Open(t)
	a := &anchors{a: Anchor{Instance: "they", JournalID: "x", Fence: 4, TakeOver: "they"}}
	g := &gates{guards: []Guard{{Node: "n1", Claimed: true, Instance: "they", Fence: 6}}}
	f := fences(t, j, a, g)
	rebuilt := ""
	f.Rebuilt = func(_, why string) { rebuilt = why }
	fence, err := f.Ensure(t.Context(), "pool")
	if err != nil || fence != 7 || a.a.Instance != "me" || g.guards[0].Instance != "me" {
		t.Errorf("fence %d, %v, anchor %q, gate %q; want 7, both mine", fence, err, a.a.Instance, g.guards[0].Instance)
	}
	if rebuilt == "" {
		t.Error("another journal's pool was taken over without a word")
	}
}

func TestAwayServersAreRaisedLater(t *testing.T) {
	j := journaltest.Open(t)
	g := &gates{guards: []Guard{{Node: "n1", Claimed: true, Instance: "me", Fence: 1}, {Node: "n2", Err: errors.New("down")}}}
	f := fences(t, j, &anchors{}, g)
	clock := &stepClock{now: time.Unix(1e9, 0)}
	f.Clock = clock
	if _, err := f.Ensure(t.Context(), "pool"); err != nil {
		t.Fatalf("a member nobody sees connected held everything back: %v", err)
	}
	g.guards[1] = Guard{Node: "n2", Claimed: true, Instance: "me", Fence: 1, Connected: true}
	clock.now = clock.now.Add(retryPending)
	if _, err := f.Ensure(t.Context(), "pool"); err != nil || g.raised["n2"] != 2 {
		t.Errorf("%v, raised %v; want n2 raised to 2 once it is back", err, g.raised)
	}
}

type stepClock struct{ now time.Time }

func (c *stepClock) Now() time.Time                                       { return c.now }
func (c *stepClock) Wait(context.Context, time.Duration, <-chan struct{}) {}

func TestRewoundJournalIsNoticed(t *testing.T) {
	cases := map[string]struct {
		reason string
		anchor func(j *journal.Journal) Anchor
		want   string
	}{
		"Replaced": {"another journal wrote the anchor", func(*journal.Journal) Anchor {
			return Anchor{Instance: "me", JournalID: "other", Fence: 1, Seq: 1}
		}, "lost or replaced"},
		"Older": {"the anchor knows events this journal has not", func(j *journal.Journal) Anchor {
			return Anchor{Instance: "me", JournalID: j.ID(), Fence: 1, Seq: 99}
		}, "older copy"},
		"Forked": {"the same place holds another event", func(j *journal.Journal) Anchor {
			return Anchor{Instance: "me", JournalID: j.ID(), Fence: 1, Seq: 1, Hash: strings.Repeat("0", 64)}
		}, "another history"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			j := journaltest.Open(t)
			f := fences(t, j, &anchors{a: c.anchor(j)}, &gates{})
			var got string
			f.Rebuilt = func(_, why string) { got = why }
			if _, err := f.Ensure(t.Context(), "pool"); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("%s: said %q, want %q in it", c.reason, got, c.want)
			}
		})
	}
}

func TestPublishNoticesASuccessor(t *testing.T) {
	j := journaltest.Open(t)
	a := &anchors{}
	f := fences(t, j, a, &gates{})
	if _, err := f.Ensure(t.Context(), "pool"); err != nil {
		t.Fatal(err)
	}
	ev, err := journal.New(journal.FenceRaised, journal.OpID{}, journal.Fence{Scope: "another", Fence: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.Append(t.Context(), journal.Guard{}, ev); err != nil {
		t.Fatal(err)
	}
	if err := f.Publish(t.Context(), "pool"); err != nil || a.a.Seq != j.Head().Seq {
		t.Errorf("publish: %v, anchor at %d; want the head %d", err, a.a.Seq, j.Head().Seq)
	}
	a.a.Fence++ // a newer process of the same instance
	if _, err := j.Append(t.Context(), journal.Guard{}, ev); err == nil {
		t.Log("a fence may be raised to the same value again")
	}
	next := ev
	next.Data = []byte(`{"scope":"another","fence":2}`)
	if _, err := j.Append(t.Context(), journal.Guard{}, next); err != nil {
		t.Fatal(err)
	}
	if err := f.Publish(t.Context(), "pool"); err == nil {
		t.Fatal("publish over a successor's anchor")
	}
	_, err = f.Ensure(t.Context(), "pool")
	if c, reason := ClassOf(err, false); c != Fenced || reason != ReasonSucceeded {
		t.Errorf("after that Ensure says %v; want Fenced", err)
	}
}
