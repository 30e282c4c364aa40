package journal

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Limits of one transaction of the group commit.
const (
	batchRequestsMax = 256
	batchBytesMax    = 8 << 20
)

// A request is an append on its way to a commit and back.
type request struct {
	guard  Guard
	events []Event
	facts  []fact // of events, which they point to
	bytes  int
	own    bool // epoch events of the journal itself are allowed

	seq Seq
	err error

	state atomic.Int32
	wake  chan bool // true: lead, false: answered; buffered, gets one value
}

// States of a request that waits: whoever changes it first has decided.
const (
	requestWaiting int32 = iota
	requestTaken         // it is served, or leads: its outcome must be awaited
	requestGone          // its caller gave up before
)

func (r *request) take() bool { return r.state.CompareAndSwap(requestWaiting, requestTaken) }
func (r *request) quit() bool { return r.state.CompareAndSwap(requestWaiting, requestGone) }

// A queue makes one of the callers the leader, who commits for all that wait.
// So a lone caller commits on its own goroutine, without a switch, and while a
// commit is under way the next batch gathers by itself, without a timer.
type queue struct {
	mu      sync.Mutex
	idle    sync.Cond // of busy
	waiting []*request
	busy    bool // somebody leads
	closed  bool
}

// enter makes the caller the leader, or has it wait on r.wake.
func (q *queue) enter(r *request) (lead bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed:
		return false, ErrClosed
	case q.busy:
		q.waiting = append(q.waiting, r)
		return false, nil
	}
	q.busy = true
	r.state.Store(requestTaken)
	return true, nil
}

// batch is what the leader commits: its own request and those that wait.
func (q *queue) batch(leader *request) []*request {
	q.mu.Lock()
	defer q.mu.Unlock()
	list, size, n := []*request{leader}, leader.bytes, 0
	for _, r := range q.waiting {
		if len(list) == batchRequestsMax || size >= batchBytesMax {
			break
		}
		if n++; r.take() {
			list = append(list, r)
			size += r.bytes
		}
	}
	q.drop(n)
	return list
}

// leave makes the first that waits the next leader.
func (q *queue) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, r := range q.waiting {
		if r.take() {
			q.drop(i + 1)
			r.wake <- true
			return
		}
	}
	q.drop(len(q.waiting))
	q.busy = false
	q.idle.Broadcast()
}

func (q *queue) drop(n int) {
	left := copy(q.waiting, q.waiting[n:])
	clear(q.waiting[left:])
	q.waiting = q.waiting[:left]
}

// close refuses new requests and waits until those that came before are
// answered.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for q.busy {
		q.idle.Wait()
	}
}

// lead commits for the leader and for those that wait.
func (j *Journal) lead(r *request, promoted bool) {
	if promoted {
		runtime.Gosched() // those answered just now may have more
	}
	j.serve(j.queue.batch(r))
	j.queue.leave()
}
