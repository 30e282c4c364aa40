package gate

import (
	"context"
	"fmt"
	"time"
)

// A Transport carries one request to the gate of one server and its reply back.
//
// An error is one of: ErrNotStarted (wrapped: the request did not reach a gate,
// nothing happened), ErrNotInstalled (wrapped: the server was reached, it has
// no gate), or anything else: the reply was lost and a mutating request may
// have happened. Do is safe for concurrent use; it returns soon after ctx ends.
type Transport interface {
	Do(ctx context.Context, req Request) (Reply, error)
}

// An Installer puts the gate on a server and tells its digest. Only the
// transport knows how; idempotent, atomic (rename), digest is of the file.
type Installer interface {
	Install(ctx context.Context, binary []byte) error
}

// A Watcher is an Installer that can tell whether an installation that its
// caller lost sight of is still under way on the server. The answer is of this
// moment; an installation that has not begun there does not count.
type Watcher interface {
	Installing(ctx context.Context) (bool, error)
}

// A Server is one server as the executor reaches it.
type Server interface {
	Transport
	Installer
}

// callMargin is what a reply may take beyond the child and the lock: a login,
// a slow disk, a get-state.
const callMargin = 30 * time.Second

// A Client speaks to the gate of one server on behalf of one pool. Its errors
// are those of the transport and those of Reply.Err; NotStarted tells the ones
// after which nothing happened. Safe for concurrent use.
type Client struct {
	t        Transport
	pool     string
	instance string
	fence    func() uint64
}

// NewClient binds a transport to a pool (UUID), an operator instance and the
// fence, which is asked anew for each request so that a lost epoch is seen.
func NewClient(t Transport, pool, instance string, fence func() uint64) *Client {
	return &Client{t: t, pool: pool, instance: instance, fence: fence}
}

// do sends req and turns a refusal into an error. The reply is returned with
// the error too when there is one: it says more.
func (c *Client) do(ctx context.Context, req Request) (Reply, error) {
	req.Version = ProtocolVersion
	req.Pool, req.Instance = c.pool, c.instance
	if c.fence != nil {
		req.Fence = c.fence()
	}
	child := req.Deadline
	if child == 0 && (req.Verb == Run || req.Verb == Read) {
		child = DeadlineDefault
	}
	ctx, cancel := context.WithTimeout(ctx, child+req.LockWait+callMargin)
	defer cancel()
	rep, err := c.t.Do(ctx, req)
	if err != nil {
		return Reply{}, fmt.Errorf("asking the gate to %s: %w", req.Verb, err)
	}
	if rep.Version != ProtocolVersion {
		return rep, fmt.Errorf("asking the gate to %s: reply of protocol version %d, want %d", req.Verb, rep.Version, ProtocolVersion)
	}
	if err := rep.Err(req); err != nil {
		return rep, err
	}
	return rep, nil
}

// A Greeting is the answer to Hello.
type Greeting struct {
	Owner  *Owner // nil: nobody claimed the server yet
	Digest string // SHA-256 of the gate's file, hex
}

// Hello tells who owns the server and which gate it has. This request and its
// reply keep their shape for ever: it is how an operator of another version
// finds out that it has to install its own gate.
func (c *Client) Hello(ctx context.Context) (Greeting, error) {
	rep, err := c.do(ctx, Request{Verb: Hello})
	return Greeting{Owner: rep.Owner, Digest: rep.Digest}, err
}

// Observe tells the state of the server, and the mounts below dirs besides the
// registered ones.
func (c *Client) Observe(ctx context.Context, dirs ...string) (ServerState, Greeting, error) {
	rep, err := c.do(ctx, Request{Verb: Observe, Dirs: dirs})
	if err == nil && rep.State == nil {
		err = fmt.Errorf("asking the gate to %s: %w", Observe, ErrCutFrame)
	}
	if err != nil {
		return ServerState{}, Greeting{}, err
	}
	return *rep.State, Greeting{Owner: rep.Owner, Digest: rep.Digest}, nil
}

// A ClaimMode says which servers Claim may take, besides our own.
type ClaimMode struct {
	Fresh    bool          // an unclaimed one only if glusterd has no peers and no volumes
	TakeOver string        // also one of our pool that this instance owns
	LockWait time.Duration // for a running command to end
}

// Claim takes an unclaimed server for the pool or raises the fence of our own.
// The returned owner is the recorded one, also with a FencedError.
func (c *Client) Claim(ctx context.Context, m ClaimMode) (Owner, error) {
	rep, err := c.do(ctx, Request{Verb: Claim, Fresh: m.Fresh, TakeOver: m.TakeOver, LockWait: m.LockWait})
	if rep.Owner == nil {
		return Owner{}, err
	}
	return *rep.Owner, err
}

// A Command is one gluster command.
type Command struct {
	Argv     []string // argv[0] is "gluster"
	Attempt  string   // Run only
	Deadline time.Duration
	LockWait time.Duration // Run only
}

// Run runs a mutating gluster command. A resent attempt that ended is answered
// with its recorded result; one that still runs gives a BusyError with Same
// set; one whose end nobody saw gives ErrInterrupted.
func (c *Client) Run(ctx context.Context, cmd Command) (Result, Receipt, error) {
	rep, err := c.do(ctx, Request{
		Verb: Run, Argv: cmd.Argv, Attempt: cmd.Attempt, Deadline: cmd.Deadline, LockWait: cmd.LockWait,
	})
	return ran(rep, err, Run)
}

// Read runs a gluster command that changes nothing.
func (c *Client) Read(ctx context.Context, cmd Command) (Result, error) {
	rep, err := c.do(ctx, Request{Verb: Read, Argv: cmd.Argv, Deadline: cmd.Deadline})
	res, _, err := ran(rep, err, Read)
	return res, err
}

func ran(rep Reply, err error, v Verb) (Result, Receipt, error) {
	var r Receipt
	if rep.Receipt != nil {
		r = *rep.Receipt
	}
	if err == nil && rep.Result == nil {
		err = fmt.Errorf("asking the gate to %s: %w", v, ErrCutFrame)
	}
	if err != nil {
		return Result{}, r, err
	}
	return *rep.Result, r, nil
}

// Receipt returns the receipt of an attempt; ErrNoReceipt when it never began.
func (c *Client) Receipt(ctx context.Context, attempt string) (Receipt, error) {
	rep, err := c.do(ctx, Request{Verb: GetRecv, Attempt: attempt})
	if err == nil && rep.Receipt == nil {
		err = fmt.Errorf("asking the gate to %s: %w", GetRecv, ErrCutFrame)
	}
	if err != nil {
		return Receipt{}, err
	}
	return *rep.Receipt, nil
}

// History returns the tail of glusterd's cmd_history.log, whole lines.
func (c *Client) History(ctx context.Context) ([]byte, error) {
	rep, err := c.do(ctx, Request{Verb: History})
	res, _, err := ran(rep, err, History)
	return res.Stdout, err
}

// Resolve looks names up as the server sees them, in their order.
func (c *Client) Resolve(ctx context.Context, names ...string) ([]Resolved, error) {
	rep, err := c.do(ctx, Request{Verb: Resolve, Names: names})
	return rep.Resolved, err
}

// Register records the mount identities of brick directories. With a
// MountError nothing was recorded.
func (c *Client) Register(ctx context.Context, attempt string, lockWait time.Duration, dirs ...string) ([]Mount, error) {
	rep, err := c.do(ctx, Request{Verb: Register, Attempt: attempt, LockWait: lockWait, Dirs: dirs})
	return rep.Mounts, err
}

// MakeBrick makes a brick directory on a file system that is the recorded one;
// idempotent. MountError and BrickError say why not.
func (c *Client) MakeBrick(ctx context.Context, attempt string, lockWait time.Duration, b BrickPath) (BrickInfo, error) {
	return c.brick(ctx, Request{Verb: MakeBrick, Attempt: attempt, LockWait: lockWait, Brick: &b})
}

// DropBrick removes a brick directory that MakeBrick made and nothing used;
// idempotent. A directory that holds anything, or is a brick, is a BrickError.
func (c *Client) DropBrick(ctx context.Context, attempt string, lockWait time.Duration, b BrickPath) (BrickInfo, error) {
	return c.brick(ctx, Request{Verb: Drop, Attempt: attempt, LockWait: lockWait, Brick: &b})
}

// Release lets go of a server whose glusterd has no peers and no volumes
// (ErrNotFresh otherwise): state and gate are removed from it. When the reply
// is lost, the next request says ErrNotInstalled.
func (c *Client) Release(ctx context.Context, lockWait time.Duration) error {
	_, err := c.do(ctx, Request{Verb: Release, LockWait: lockWait})
	return err
}

// Retire renames a volume's folder of a registered directory into
// .anthill-retired; idempotent, and refused while it is still a brick.
func (c *Client) Retire(ctx context.Context, attempt string, lockWait time.Duration, b BrickPath) (BrickInfo, error) {
	return c.brick(ctx, Request{Verb: Retire, Attempt: attempt, LockWait: lockWait, Brick: &b})
}

// Reclaim removes the xattrs and the empty skeleton that a failed volume create
// left on a brick directory of ours; volumeID is the one Inspect found.
func (c *Client) Reclaim(ctx context.Context, attempt string, lockWait time.Duration, b BrickPath, volumeID string) (BrickInfo, error) {
	return c.brick(ctx, Request{Verb: Reclaim, Attempt: attempt, LockWait: lockWait, Brick: &b, VolumeID: volumeID})
}

// Inspect tells what is at a brick path, without lock or fence.
func (c *Client) Inspect(ctx context.Context, b BrickPath) (BrickInfo, error) {
	return c.brick(ctx, Request{Verb: Inspect, Brick: &b})
}

func (c *Client) brick(ctx context.Context, req Request) (BrickInfo, error) {
	rep, err := c.do(ctx, req)
	if rep.Brick == nil {
		if err == nil {
			err = fmt.Errorf("asking the gate to %s: %w", req.Verb, ErrCutFrame)
		}
		return BrickInfo{}, err
	}
	return *rep.Brick, err
}
