package gate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// enter takes the lock for req and checks who asks. The caller releases it.
func (g *gate) enter(ctx context.Context, req Request) (*lock, error) {
	l, err := g.takeFor(ctx, req)
	if err != nil {
		return nil, err
	}
	if err := g.admit(req); err != nil {
		l.release()
		return nil, err
	}
	return l, nil
}

// takeFor takes the lock, or says which attempt has it.
func (g *gate) takeFor(ctx context.Context, req Request) (*lock, error) {
	l, err := g.take(ctx, holder{Verb: req.Verb, Attempt: req.Attempt}, req.LockWait)
	if !errors.Is(err, errLockBusy) {
		return l, err
	}
	h, _ := g.held()
	r := refusef(ExitBusy, ReasonBusy, "%s %q is still running on this server", h.Verb, h.Attempt)
	r.Receipt = &Receipt{Attempt: h.Attempt, Verb: h.Verb, Running: true}
	if rec, err := g.load(h.Attempt); err == nil && word(h.Attempt, 128) {
		rec.Receipt.Running = true
		r.Receipt = &rec.Receipt
	}
	return nil, r
}

// admit compares the request's pool, instance and fence with the recorded
// ones, and records a higher fence. The caller holds the lock.
func (g *gate) admit(req Request) error {
	o, err := g.owner()
	if err != nil {
		return err
	}
	if o == nil {
		return refusef(ExitFailed, ReasonUnclaimed, "nobody claimed this server")
	}
	if err := fenced(*o, req, ""); err != nil {
		return err
	}
	if req.Fence > o.Fence {
		return g.setOwner(Owner{Pool: o.Pool, Instance: o.Instance, Fence: req.Fence})
	}
	return nil
}

// fenced refuses a request that does not come from the owner. takeOver is the
// other instance the request may replace.
func fenced(o Owner, req Request, takeOver string) error {
	deny := func(why Reason, format string, args ...any) error {
		r := refusef(ExitFenced, why, format, args...)
		r.Owner = &o
		return r
	}
	switch {
	case o.Pool != req.Pool:
		return deny(ReasonForeignPool, "the server belongs to pool %s, not to %s", o.Pool, req.Pool)
	case o.Instance != req.Instance && o.Instance != takeOver:
		return deny(ReasonOtherInstance, "the server is operated by instance %q, not by %q", o.Instance, req.Instance)
	case o.Instance != req.Instance && req.Fence <= o.Fence:
		return deny(ReasonLowerFence, "taking over from instance %q needs a fence above %d, not %d", o.Instance, o.Fence, req.Fence)
	case req.Fence < o.Fence:
		return deny(ReasonLowerFence, "fence %d is below the recorded %d", req.Fence, o.Fence)
	}
	return nil
}

// known returns the record of the request's attempt, nil if there is none.
func (g *gate) known(req Request) (*record, error) {
	r, err := g.load(req.Attempt)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if r.Command != "" && r.Command != command(req) {
		return nil, refusef(ExitUsage, ReasonAttemptReused, "attempt %q belongs to another command", req.Attempt)
	}
	return &r, nil
}

// run answers Run: the child runs at most once per attempt.
func (g *gate) run(ctx context.Context, req Request) (Reply, error) {
	if err := Allowed(Run, req.Argv); err != nil {
		return Reply{}, refusef(ExitUsage, ReasonNotAllowed, "%v", err)
	}
	if g.Gluster == "" {
		return Reply{}, refusef(ExitMissing, ReasonNoGluster, "there is no gluster command in %v", glusterPaths)
	}
	l, err := g.enter(ctx, req)
	if err != nil {
		return Reply{}, err
	}
	defer l.release()
	old, err := g.known(req)
	if err != nil {
		return Reply{}, err
	}
	if old != nil {
		return again(old)
	}
	if err := g.mounted(req.Argv); err != nil {
		return Reply{}, err
	}
	rec, err := g.begin(req)
	if err != nil {
		return Reply{}, err
	}
	res, err := child{
		path: g.Gluster, argv: req.Argv, env: g.childEnv(), deadline: req.deadline(), outMax: OutputBytesMax,
		lock: l.f, began: func(pid int) { g.started(rec, pid) },
	}.run(context.WithoutCancel(ctx))
	if err != nil {
		// It never ran, and its receipt says so.
		res = Result{Exit: ExitMissing, Stderr: []byte(err.Error())}
	}
	// A receipt that stays without an end is the safe side: its attempt is
	// unknown to whoever asks later. Who asked now gets the answer.
	_ = g.finish(rec, &res)
	r := rec.Receipt
	r.Result = nil
	return Reply{Result: &res, Receipt: &r}, nil
}

// again answers an attempt that is on record, now that the lock is free.
func again(r *record) (Reply, error) {
	if r.Ended == 0 || r.Result == nil {
		f := refusef(ExitFailed, ReasonInterrupted, "attempt %q began and its end was not seen", r.Attempt)
		f.Receipt = &r.Receipt
		return Reply{}, f
	}
	res, rec := *r.Result, r.Receipt
	rec.Result = nil
	return Reply{Result: &res, Receipt: &rec}, nil
}

// read answers Read: no lock, no fence, no receipt.
func (g *gate) read(ctx context.Context, req Request) (Reply, error) {
	if err := Allowed(Read, req.Argv); err != nil {
		return Reply{}, refusef(ExitUsage, ReasonNotAllowed, "%v", err)
	}
	if g.Gluster == "" {
		return Reply{}, refusef(ExitMissing, ReasonNoGluster, "there is no gluster command in %v", glusterPaths)
	}
	res, err := child{path: g.Gluster, argv: req.Argv, env: g.childEnv(), deadline: req.deadline(), outMax: ReadBytesMax}.run(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return Reply{}, refusef(ExitMissing, ReasonNoGluster, "%v", err)
	}
	if err != nil {
		return Reply{}, err
	}
	return Reply{Result: &res}, nil
}

// mutate answers a verb that is its own effect: idempotent, so a resent
// attempt does it again and tells what is there now.
func (g *gate) mutate(ctx context.Context, req Request, do func(Request) (Reply, error)) (Reply, error) {
	return g.mutateBy(ctx, req, func(_ context.Context, req Request, _ heldBy) (Reply, error) { return do(req) })
}

// heldBy is what a mutation holds, for the child that has its effect.
type heldBy struct {
	lock *lock
	rec  *record
}

// mutateBy is mutate for an effect that a child has, which inherits the lock.
func (g *gate) mutateBy(ctx context.Context, req Request, do func(context.Context, Request, heldBy) (Reply, error)) (Reply, error) {
	l, err := g.enter(ctx, req)
	if err != nil {
		return Reply{}, err
	}
	defer l.release()
	rec, err := g.known(req)
	if err != nil {
		return Reply{}, err
	}
	if rec == nil {
		if rec, err = g.begin(req); err != nil {
			return Reply{}, err
		}
	}
	rec.Verb, rec.Fence = req.Verb, req.Fence
	rec.Ended, rec.Result, rec.Gate, rec.Child = 0, nil, thisProcess(os.Getpid()), process{}
	rep, err := do(context.WithoutCancel(ctx), req, heldBy{l, rec})
	res := &Result{}
	if err != nil {
		res = &Result{Exit: ExitFailed, Stderr: []byte(err.Error())}
	}
	if ferr := g.finish(rec, res); ferr != nil && err == nil {
		err = ferr
	}
	if err != nil {
		return Reply{}, err
	}
	r := rec.Receipt
	r.Result = nil
	rep.Receipt = &r
	return rep, nil
}

// claim answers Claim.
func (g *gate) claim(ctx context.Context, req Request) (Reply, error) {
	l, err := g.takeFor(ctx, req)
	if err != nil {
		return Reply{}, err
	}
	defer l.release()
	o, err := g.owner()
	if err != nil {
		return Reply{}, err
	}
	want := Owner{Pool: req.Pool, Instance: req.Instance, Fence: req.Fence}
	if o == nil {
		if req.Fresh {
			if err := g.fresh(); err != nil {
				return Reply{}, err
			}
		}
	} else if err := fenced(*o, req, req.TakeOver); err != nil {
		return Reply{}, err
	}
	if o == nil || *o != want {
		if err := g.setOwner(want); err != nil {
			return Reply{}, err
		}
	}
	return Reply{Owner: &want}, nil
}

// fresh refuses a server whose glusterd already belongs to something. It
// reads glusterd's files: a stopped glusterd hides nothing.
func (g *gate) fresh() error {
	peers, err := g.peers()
	if err != nil {
		return err
	}
	vols, err := g.volumes()
	if err != nil {
		return err
	}
	if len(peers) > 0 || len(vols) > 0 {
		return refusef(ExitFailed, ReasonNotFresh, "glusterd on this server has %s and %s", count(len(peers), "peer"), count(len(vols), "volume"))
	}
	return nil
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
