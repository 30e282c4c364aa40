package controller

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// guestPause is between two writes of one object's status while its pool belongs
// to another operator instance.
const guestPause = time.Minute

// guestsMax bounds what is remembered. When it is reached all is forgotten, and
// something may be written once more.
const guestsMax = 10_000

// guests limits what is written about pools of other instances. If the owner is
// gone, somebody has to tell people what to do. If it lives, it writes what is
// true, and two operators that each correct the other would never end. Which of
// the two it is cannot be told. Safe for concurrent use.
type guests struct {
	mu    sync.Mutex
	visit map[types.UID]visit
}

type visit struct {
	generation, fence int64
	at                time.Time
}

// may reports whether the status of o may be written now, and remembers that it
// was. What is new, a generation or a fence, may be told at once.
func (g *guests) may(o client.Object, fence int64, now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	was, known := g.visit[o.GetUID()]
	if known && was.generation == o.GetGeneration() && was.fence == fence && now.Sub(was.at) < guestPause {
		return false
	}
	if g.visit == nil || len(g.visit) >= guestsMax {
		g.visit = map[types.UID]visit{}
	}
	g.visit[o.GetUID()] = visit{o.GetGeneration(), fence, now}
	return true
}
