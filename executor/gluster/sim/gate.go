package sim

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/gluster/anthill/executor/gate"
	"github.com/gluster/anthill/executor/gluster"
)

// A gateState is the gate of one server: what its files would hold.
type gateState struct {
	Installed bool
	Digest    string
	Owner     *gate.Owner
	Receipts  map[string]*receipt
	Order     []string // attempts, oldest first
	Dirs      map[string]gate.MountID
	Devices   map[string]deviceRecord
	Running   string // attempt that holds the lock
}

// A refusal is a reply on its way out.
type refusal struct{ gate.Reply }

func (r *refusal) Error() string { return r.Reply.Error }

func refusef(exit int, why gate.Reason, format string, args ...any) *refusal {
	return &refusal{gate.Reply{Exit: exit, Reason: why, Error: fmt.Sprintf(format, args...)}}
}

// errLost: the request, or its reply, was lost on the way.
var errLost = errors.New("the request or its reply was lost")

// Handle answers one request as the gate of a server would. lost means that the
// caller gets no reply; the request may have been carried out.
func (p *Pool) Handle(ctx context.Context, name string, req gate.Request) (rep gate.Reply, lost bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.server(name)
	if s == nil || s.Away || s.Dark {
		return gate.Reply{}, true
	}
	defer p.changed()
	g := &gateCall{p: p, s: s, g: s.Gate, req: req}
	rep, err := g.dispatch(ctx)
	if errors.Is(err, errLost) {
		return gate.Reply{}, true
	}
	if r, ok := errors.AsType[*refusal](err); ok {
		rep = r.Reply
	} else if err != nil {
		rep = gate.Reply{Exit: gate.ExitFailed, Reason: gate.ReasonState, Error: err.Error()}
	}
	rep.Version = gate.ProtocolVersion
	return rep, false
}

// Install puts a gate on a server.
func (p *Pool) Install(name string, binary []byte) error {
	return p.on(name, "installing the gate", func(s *server) {
		sum := sha256.Sum256(binary)
		s.Gate.Installed, s.Gate.Digest = true, hex.EncodeToString(sum[:])
	})
}

// A gateCall is one request on its way.
type gateCall struct {
	p   *Pool
	s   *server
	g   *gateState
	req gate.Request
}

func (c *gateCall) dispatch(ctx context.Context) (gate.Reply, error) {
	if !c.g.Installed {
		return gate.Reply{}, refusef(gate.ExitMissing, gate.ReasonNotInstalled, "there is no gate")
	}
	if c.req.Version != gate.ProtocolVersion {
		return gate.Reply{}, refusef(gate.ExitUsage, gate.ReasonVersion, "protocol version %d is unknown, this gate speaks %d", c.req.Version, gate.ProtocolVersion)
	}
	switch c.req.Verb {
	case gate.Hello:
		return gate.Reply{Owner: c.g.Owner, Digest: c.g.Digest}, nil
	case gate.Observe:
		return c.observe(), nil
	case gate.Read:
		return c.read(ctx)
	case gate.GetRecv:
		return c.receipt()
	case gate.Resolve:
		return c.resolve(), nil
	case gate.History:
		h := c.s.History
		cut := max(0, len(h)-gate.HistoryBytesMax)
		return gate.Reply{Result: &gate.Result{Stdout: slices.Clone(h[cut:]), Truncated: cut > 0}}, nil
	case gate.Inspect:
		return c.inspect()
	case gate.Claim:
		return c.claim(ctx)
	case gate.Release:
		return c.release(ctx)
	case gate.Run:
		return c.run(ctx)
	case gate.MakeBrick:
		return c.mutate(ctx, c.makeBrick)
	case gate.Drop:
		return c.mutate(ctx, c.drop)
	case gate.Retire:
		return c.mutate(ctx, c.retire)
	case gate.Reclaim:
		return c.mutate(ctx, c.reclaim)
	case gate.Register:
		return c.mutate(ctx, c.register)
	case gate.FormatDevice:
		return c.mutate(ctx, c.format)
	case gate.MountDevice:
		return c.mutate(ctx, c.mountVerb)
	}
	return gate.Reply{}, refusef(gate.ExitUsage, gate.ReasonUsage, "verb %q is unknown", c.req.Verb)
}

// take waits for the server's lock, or says who has it.
func (c *gateCall) take(ctx context.Context) error {
	if c.req.Pool == "" || c.req.Instance == "" || c.req.Fence == 0 {
		return refusef(gate.ExitUsage, gate.ReasonUsage, "%s needs a pool, an instance and a fence", c.req.Verb)
	}
	until := c.p.now().Add(c.req.LockWait)
	for c.g.Running != "" {
		left := until.Sub(c.p.now())
		if left <= 0 || ctx.Err() != nil {
			r := refusef(gate.ExitBusy, gate.ReasonBusy, "%q is still running on this server", c.g.Running)
			if rec := c.g.Receipts[c.g.Running]; rec != nil {
				shown := rec.Receipt
				shown.Running = true
				r.Receipt = &shown
			}
			return r
		}
		c.p.wait(ctx, c.p.freed, left)
		select {
		case <-c.p.ended:
			return errLost
		default:
		}
	}
	return nil
}

// free lets the lock go.
func (c *gateCall) free() {
	c.g.Running = ""
	close(c.p.freed)
	c.p.freed = make(chan struct{})
}

// enter takes the lock and checks who asks. Without the lock nothing is held:
// only run keeps it while it lets go of the pool.
func (c *gateCall) enter(ctx context.Context) error {
	if c.req.Attempt == "" && c.req.Verb != gate.Release {
		return refusef(gate.ExitUsage, gate.ReasonUsage, "%s needs an attempt", c.req.Verb)
	}
	if err := c.take(ctx); err != nil {
		return err
	}
	o := c.g.Owner
	if o == nil {
		return refusef(gate.ExitFailed, gate.ReasonUnclaimed, "nobody claimed this server")
	}
	if err := c.fenced(""); err != nil {
		return err
	}
	o.Fence = max(o.Fence, c.req.Fence)
	return nil
}

func (c *gateCall) fenced(takeOver string) error {
	o, req := *c.g.Owner, c.req
	deny := func(why gate.Reason, format string, args ...any) error {
		r := refusef(gate.ExitFenced, why, format, args...)
		r.Owner = &o
		return r
	}
	switch {
	case o.Pool != req.Pool:
		return deny(gate.ReasonForeignPool, "the server belongs to pool %s, not to %s", o.Pool, req.Pool)
	case o.Instance != req.Instance && o.Instance != takeOver:
		return deny(gate.ReasonOtherInstance, "the server is operated by instance %q, not by %q", o.Instance, req.Instance)
	case o.Instance != req.Instance && req.Fence <= o.Fence:
		return deny(gate.ReasonLowerFence, "taking over from instance %q needs a fence above %d, not %d", o.Instance, o.Fence, req.Fence)
	case req.Fence < o.Fence:
		return deny(gate.ReasonLowerFence, "fence %d is below the recorded %d", req.Fence, o.Fence)
	}
	return nil
}

func (c *gateCall) claim(ctx context.Context) (gate.Reply, error) {
	if err := c.take(ctx); err != nil {
		return gate.Reply{}, err
	}
	if c.g.Owner == nil {
		if c.req.Fresh {
			if err := c.fresh(); err != nil {
				return gate.Reply{}, err
			}
		}
	} else if err := c.fenced(c.req.TakeOver); err != nil {
		return gate.Reply{}, err
	}
	want := gate.Owner{Pool: c.req.Pool, Instance: c.req.Instance, Fence: c.req.Fence}
	c.g.Owner = &want
	shown := want
	return gate.Reply{Owner: &shown}, nil
}

func (c *gateCall) fresh() error {
	peers, vols := len(c.s.Disk.Peers), len(c.s.Disk.Volumes)
	if peers > 0 || vols > 0 {
		return refusef(gate.ExitFailed, gate.ReasonNotFresh, "glusterd on this server has %d peers and %d volumes", peers, vols)
	}
	return nil
}

func (c *gateCall) release(ctx context.Context) (gate.Reply, error) {
	if err := c.enter(ctx); err != nil {
		return gate.Reply{}, err
	}
	if err := c.fresh(); err != nil {
		return gate.Reply{}, err
	}
	*c.g = gateState{}
	c.log(c.s.Name)
	return gate.Reply{}, nil
}

// log notes what a request changed.
func (c *gateCall) log(on string) {
	c.p.effect(Effect{Server: c.s.Name, Verb: string(c.req.Verb), Attempt: c.req.Attempt, Fence: c.req.Fence, On: []string{on}})
}

// command is a digest of what a request asks for.
func command(req gate.Request) string {
	b, err := json.Marshal(gate.Request{Verb: req.Verb, Argv: req.Argv, Dirs: req.Dirs, Brick: req.Brick, Device: req.Device, VolumeID: req.VolumeID})
	if err != nil {
		panic(err) // strings and structs of strings: it cannot fail
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// run answers Run: at most once per attempt, whoever still waits for it.
func (c *gateCall) run(ctx context.Context) (gate.Reply, error) {
	if err := gate.Allowed(gate.Run, c.req.Argv); err != nil {
		return gate.Reply{}, refusef(gate.ExitUsage, gate.ReasonNotAllowed, "%v", err)
	}
	deadline := c.req.Deadline
	if deadline == 0 {
		deadline = gate.DeadlineDefault
	}
	cmd := c.p.newCall(c.s, gluster.Command{Argv: c.req.Argv, Mutates: true, Attempt: c.req.Attempt, Deadline: deadline}, c.req.Fence)
	if err := c.enter(ctx); err != nil {
		return gate.Reply{}, err
	}
	old, err := c.known()
	if err != nil {
		return gate.Reply{}, err
	}
	if old != nil {
		return c.again(old)
	}
	if r := cmd.findRule(); r != nil && r.Effect == EffectNever {
		return gate.Reply{}, errLost // it never came here
	}
	rec := c.begin()
	c.g.Running = c.req.Attempt
	out, err := cmd.run(context.WithoutCancel(ctx))
	if c.g.Running != c.req.Attempt || c.s.Away {
		return gate.Reply{}, errLost // the machine went down under it
	}
	c.free()
	if err != nil && !errors.Is(err, ErrReplyLost) {
		return gate.Reply{}, err
	}
	res := gate.Result{Exit: out.Exit, Stdout: out.Stdout, Stderr: out.Stderr, TimedOut: out.TimedOut, Elapsed: out.Elapsed}
	shown := rec.end(c.p.now(), res)
	if err != nil {
		return gate.Reply{}, errLost
	}
	return gate.Reply{Result: &res, Receipt: &shown}, nil
}

func (c *gateCall) again(r *receipt) (gate.Reply, error) {
	shown := r.Receipt
	if r.Ended == 0 || r.Result == nil {
		f := refusef(gate.ExitFailed, gate.ReasonInterrupted, "attempt %q began and its end was not seen", r.Attempt)
		f.Receipt = &shown
		return gate.Reply{}, f
	}
	res := *r.Result
	shown.Result = nil
	return gate.Reply{Result: &res, Receipt: &shown}, nil
}

func (c *gateCall) read(ctx context.Context) (gate.Reply, error) {
	if err := gate.Allowed(gate.Read, c.req.Argv); err != nil {
		return gate.Reply{}, refusef(gate.ExitUsage, gate.ReasonNotAllowed, "%v", err)
	}
	deadline := c.req.Deadline
	if deadline == 0 {
		deadline = gate.DeadlineDefault
	}
	out, err := c.p.newCall(c.s, gluster.Command{Argv: c.req.Argv, Deadline: deadline}, 0).run(ctx)
	if err != nil {
		return gate.Reply{}, errLost
	}
	return gate.Reply{Result: &gate.Result{Exit: out.Exit, Stdout: out.Stdout, Stderr: out.Stderr, TimedOut: out.TimedOut, Elapsed: out.Elapsed}}, nil
}

// mutate answers a verb that is its own effect: a resent attempt does it again.
func (c *gateCall) mutate(ctx context.Context, do func() (gate.Reply, error)) (gate.Reply, error) {
	if err := c.enter(ctx); err != nil {
		return gate.Reply{}, err
	}
	rec, err := c.known()
	if err != nil {
		return gate.Reply{}, err
	}
	if rec == nil {
		rec = c.begin()
	}
	rep, err := do()
	res := gate.Result{}
	if err != nil {
		res = gate.Result{Exit: gate.ExitFailed, Stderr: []byte(err.Error())}
	}
	shown := rec.end(c.p.now(), res)
	if err != nil {
		return gate.Reply{}, err
	}
	rep.Receipt = &shown
	return rep, nil
}
