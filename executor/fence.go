package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"

	"github.com/gluster/anthill/executor/crash"
	"github.com/gluster/anthill/journal"
)

// An Anchor is what is known of a scope's writer outside the journal, so that a
// lost, copied or rewound journal is noticed before it does harm.
type Anchor struct {
	Instance  string      // operator instance that owns the scope; empty: nobody yet
	JournalID string      // journal it was written from
	Fence     uint64      // highest fence it has taken
	Seq       journal.Seq // an event that was durable then ...
	Hash      string      // ... and its hash
	TakeOver  string      // instance that a person allows to be replaced; not written
	Read      uint64      // Fence as Load saw it; Store fails if it is another by then
}

// Anchors keeps anchors. Store fails with ErrAnchorMoved when somebody else
// wrote since Load.
type Anchors interface {
	Load(ctx context.Context, scope string) (Anchor, error)
	Store(ctx context.Context, scope string, a Anchor) error
}

// ErrAnchorMoved is returned by Anchors.Store.
var ErrAnchorMoved = errors.New("the anchor was written by somebody else in between")

// A Guard is one server's gate, as asked.
type Guard struct {
	Node     string
	Err      error  // it could not be asked
	Claimed  bool   // it belongs to this scope
	Instance string // that claimed it
	Fence    uint64
	// Connected is true when some other server sees it as a connected member.
	Connected bool
}

// Gates are the gates of a scope's servers.
type Gates interface {
	// Survey asks every server of the scope. An error means that the servers are
	// not known.
	Survey(ctx context.Context, scope string) ([]Guard, error)
	// Raise lets node accept nothing below fence any more. It waits for what
	// runs there to end, or fails as Busy.
	Raise(ctx context.Context, scope, node string, fence uint64, takeOver string) error
}

// History is what fencing needs of the journal.
type History interface {
	Log
	ID() string
	Head() journal.Head
	HashAt(seq journal.Seq) (journal.Hash, error) // journal.ErrNotFound outside tail..head
	MaxFence(scope string) uint64
}

// Fences takes and keeps the fence of each scope for this epoch. Safe for
// concurrent use; one scope never waits for another.
type Fences struct {
	Journal  History
	Epoch    journal.Epoch
	Anchors  Anchors
	Gates    Gates
	Instance string
	Clock    Clock
	Log      logr.Logger
	// Rebuilt is called when the journal was found lost or rewound: the world is
	// adopted. Optional.
	Rebuilt func(scope, why string)

	mu     sync.Mutex
	scopes map[string]*fence
}

type fence struct {
	mu      sync.Mutex
	value   uint64
	pending []string  // servers that were away when the fence was raised
	next    time.Time // when to try them again
	lost    error     // fenced for good
	seq     journal.Seq
}

var _ Fencer = (*Fences)(nil)

// retryPending is how often servers that were away are tried again.
const retryPending = 5 * time.Second

// Ensure takes the fence of scope once per epoch and afterwards only looks
// after servers that were away. See Fencer.
func (f *Fences) Ensure(ctx context.Context, scope string) (uint64, error) {
	s := f.scope(scope)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost != nil {
		return 0, s.lost
	}
	if s.value != 0 && (len(s.pending) == 0 || f.Clock.Now().Before(s.next)) {
		return s.value, nil
	}
	err := f.take(ctx, scope, s)
	if c, _ := ClassOf(err, false); err != nil && c == Fenced {
		s.lost = err
	}
	if err != nil {
		return 0, err
	}
	return s.value, nil
}

func (f *Fences) scope(scope string) *fence {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.scopes == nil {
		f.scopes = map[string]*fence{}
	}
	s, ok := f.scopes[scope]
	if !ok {
		s = &fence{}
		f.scopes[scope] = s
	}
	return s
}

// Forget lets a scope be tried again after a person changed something (the
// take-over annotation). It never lowers a fence.
func (f *Fences) Forget(scope string) {
	s := f.scope(scope)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost = nil
}

func (f *Fences) take(ctx context.Context, scope string, s *fence) error {
	guards, err := f.Gates.Survey(ctx, scope)
	if err != nil {
		return Errorf(Transient, ReasonFenceIncomplete, "servers of the pool are not known: %w", err)
	}
	takeOver := ""
	if s.value == 0 {
		if takeOver, err = f.number(ctx, scope, s, guards); err != nil {
			return err
		}
	}
	return f.raise(ctx, scope, s, guards, takeOver)
}

// number chooses the fence: above everything the journal, the anchor and the
// gates have seen; first into the journal, then into the anchor.
func (f *Fences) number(ctx context.Context, scope string, s *fence, guards []Guard) (takeOver string, err error) {
	a, err := f.Anchors.Load(ctx, scope)
	if err != nil {
		return "", Errorf(Transient, ReasonFenceIncomplete, "reading the anchor: %w", err)
	}
	if a.Instance != "" && a.Instance != f.Instance {
		if a.TakeOver != a.Instance {
			return "", otherInstance("the pool", a.Instance, f.Instance)
		}
		takeOver = a.Instance
	}
	top := max(f.Journal.MaxFence(scope), a.Fence)
	for _, g := range guards {
		if g.Claimed && g.Instance != f.Instance && g.Instance != "" && g.Instance != takeOver {
			if a.TakeOver != g.Instance {
				return "", otherInstance("server "+g.Node, g.Instance, f.Instance)
			}
			takeOver = g.Instance
		}
		if g.Claimed {
			top = max(top, g.Fence)
		}
	}
	f.checkRewound(scope, a)
	value := top + 1
	ev, err := journal.New(journal.FenceRaised, journal.OpID{}, journal.Fence{Scope: scope, Fence: value})
	if err != nil {
		return "", err
	}
	ev.Actor = actor
	seq, err := f.Journal.Append(ctx, journal.Guard{Epoch: f.Epoch}, ev)
	if err != nil {
		return "", fmt.Errorf("recording fence %d: %w", value, err)
	}
	crash.Here("fence.after-journal")
	hash, err := f.Journal.HashAt(seq)
	if err != nil {
		return "", err
	}
	a.Instance, a.JournalID, a.Fence, a.Seq, a.Hash = f.Instance, f.Journal.ID(), value, seq, hash.String()
	if err := f.Anchors.Store(ctx, scope, a); err != nil {
		if errors.Is(err, ErrAnchorMoved) {
			return "", Errorf(Transient, ReasonFenceIncomplete, "writing the anchor: %w", err)
		}
		return "", Errorf(Transient, ReasonFenceIncomplete, "writing the anchor: %w", err)
	}
	crash.Here("fence.after-anchor")
	s.value, s.seq = value, seq
	f.Log.Info("fence taken", "scope", scope, "fence", value, "takeOver", takeOver)
	return takeOver, nil
}

func otherInstance(what, owner, us string) error {
	return Errorf(Fenced, ReasonOtherInstance,
		"%s belongs to operator instance %q, this one is %q; stop that one, then annotate the cluster with anthill.gluster.org/take-over=%s",
		what, owner, us, owner)
}

// checkRewound says when this journal is not the one the anchor was written
// from, or an older copy of it. Its operations may be stale then; that is no
// harm, since nothing acts before a probe has looked, but a person should know.
func (f *Fences) checkRewound(scope string, a Anchor) {
	why := ""
	switch {
	case a.JournalID == "":
		return
	case a.JournalID != f.Journal.ID():
		why = fmt.Sprintf("the pool was last changed from journal %s, this is %s: it was lost or replaced", a.JournalID, f.Journal.ID())
	default:
		head := f.Journal.Head().Seq
		if a.Seq > head {
			why = fmt.Sprintf("the journal ends at event %d, but event %d had been written: it is an older copy", head, a.Seq)
			break
		}
		hash, err := f.Journal.HashAt(a.Seq)
		if err == nil && hash.String() != a.Hash {
			why = fmt.Sprintf("event %d of the journal is not the one that had been written: it is another history", a.Seq)
		}
	}
	if why != "" && f.Rebuilt != nil {
		f.Rebuilt(scope, why)
	}
}

// raise tells the fence to every server. All connected members must know it
// before anything is changed.
func (f *Fences) raise(ctx context.Context, scope string, s *fence, guards []Guard, takeOver string) error {
	var away, missing []string
	for _, g := range guards {
		if g.Err == nil && (!g.Claimed || g.Fence == s.value && g.Instance == f.Instance) {
			continue // not ours yet: it is claimed with the fence; or done
		}
		err := g.Err
		if err == nil {
			t := takeOver
			if g.Instance != f.Instance {
				t = g.Instance
			}
			if err = f.Gates.Raise(ctx, scope, g.Node, s.value, t); err != nil {
				if c, _ := ClassOf(err, true); c == Fenced {
					return Errorf(Fenced, ReasonSucceeded, "server %s: %w", g.Node, err)
				}
			}
			crash.Here("fence.after-raise")
		}
		if err == nil {
			continue
		}
		away = append(away, g.Node)
		if g.Connected {
			missing = append(missing, fmt.Sprintf("%s (%v)", g.Node, err))
		}
	}
	s.pending, s.next = away, f.Clock.Now().Add(retryPending)
	if len(missing) > 0 {
		slices.Sort(missing)
		return Errorf(Transient, ReasonFenceIncomplete, "connected members that could not be fenced: %s", strings.Join(missing, ", "))
	}
	return nil
}

// Publish writes how far the journal has come into the anchor. Best effort: the
// next one tells the same and more.
func (f *Fences) Publish(ctx context.Context, scope string) error {
	s := f.scope(scope)
	s.mu.Lock()
	defer s.mu.Unlock()
	head := f.Journal.Head()
	if s.value == 0 || s.lost != nil || head.Seq == s.seq {
		return nil
	}
	a, err := f.Anchors.Load(ctx, scope)
	if err != nil {
		return fmt.Errorf("reading the anchor: %w", err)
	}
	if a.Instance != f.Instance || a.Fence != s.value {
		s.lost = Errorf(Fenced, ReasonSucceeded, "the anchor says fence %d of instance %q, this is fence %d of %q", a.Fence, a.Instance, s.value, f.Instance)
		return s.lost
	}
	a.JournalID, a.Seq, a.Hash = f.Journal.ID(), head.Seq, head.Hash.String()
	if err := f.Anchors.Store(ctx, scope, a); err != nil {
		return fmt.Errorf("writing the anchor: %w", err)
	}
	s.seq = head.Seq
	return nil
}
