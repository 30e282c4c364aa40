package sim

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/gluster/anthill/executor/gluster"
)

// Options of a pool. The zero value of each has the stated default.
type Options struct {
	Seed    uint64
	Servers []string // names; they resolve on every server
	Roots   []string // mount points of brick file systems, default /bricks/b1, /bricks/b2
	// Pods are servers that are pods, with their devices; they have no Roots.
	Pods map[string][]Device
	// RootBytes is the size of one, default 400 MiB.
	RootBytes uint64
	// Clock makes time real, and waiting too. Default: a clock of its own that
	// starts at 2026-01-01 and moves with Advance, and with every deadline that
	// a command waits for.
	Clock func() time.Time
	// Rebalance is how rebalances go until SetRebalance, default two seconds
	// and ten files.
	Rebalance RebalancePlan
	// NoReverse leaves addresses without names: glusterd then lists whoever
	// probed it by address.
	NoReverse bool
	// Gates are installed from the start.
	Gates bool
}

// A RebalancePlan is how a rebalance will go on each server with a brick.
type RebalancePlan struct {
	Takes                    time.Duration
	Files, Failures, Skipped uint64
}

// A Pool is the simulated servers. Safe for concurrent use.
type Pool struct {
	mu      sync.Mutex
	opts    Options
	st      state
	locks   map[string]*txn // by volume name; "" is the cluster's
	pending []*txn          // waiting for a stopped peer or for a rule, in order
	freed   chan struct{}   // closed and replaced when a gate's lock is freed
	ended   chan struct{}   // closed when Serve ends: nothing is waited for any more
	onSave  func([]byte)
}

// state is all that is saved.
type state struct {
	Now       time.Time // of the logical clock
	Made      uint64    // ids made
	Seq       uint64    // of effects
	Servers   []*server
	Rules     []*Rule
	Effects   []Effect
	Rebalance RebalancePlan
	Heals     map[string]Heal // by "volume host:/path"
	Crawls    map[string]bool // the same; see SetCrawl
}

// An Effect is something that really changed, or may have: one command or gate
// request that was applied on at least one server.
type Effect struct {
	Seq     uint64
	At      time.Time
	Server  string // originator
	Verb    string // "run", "make-brick", "retire", ...
	Attempt string
	Fence   uint64
	Argv    []string // of "run": without gluster and options
	On      []string // servers that applied it
	Late    bool     // after its client had given up
}

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// New makes a pool of fresh servers: glusterd runs on each, has no UUID, no
// peers and no volumes.
func New(o Options) *Pool {
	o = o.withDefaults()
	p := newPool(o)
	p.st = state{Now: epoch, Rebalance: o.Rebalance, Heals: map[string]Heal{}}
	for i, name := range o.Servers {
		s := &server{
			Name: name, Addr: fmt.Sprintf("192.0.2.%d", i+1), NextPID: 100 + 1000*i,
			Disk: &store{Volumes: map[string]*volume{}, Options: map[string]string{}, OpVer: opVersion},
			FS:   &files{Roots: map[string]*root{}, Dirs: map[string]*dir{}}, Procs: map[string]*proc{},
			Gate: &gateState{Installed: o.Gates},
		}
		devices, pod := o.Pods[name]
		s.Pod = pod
		for _, d := range devices {
			s.setDevice(d, o.RootBytes)
		}
		for _, at := range o.Roots {
			if pod {
				break
			}
			s.FS.Roots[at] = &root{FSUUID: p.newID(), Size: o.RootBytes, Free: o.RootBytes * 9 / 10, Mounted: true}
		}
		p.st.Servers = append(p.st.Servers, s)
		p.startGlusterd(s)
	}
	return p
}

func newPool(o Options) *Pool {
	return &Pool{opts: o, locks: map[string]*txn{}, freed: make(chan struct{}), ended: make(chan struct{})}
}

func (o Options) withDefaults() Options {
	if len(o.Roots) == 0 {
		o.Roots = []string{"/bricks/b1", "/bricks/b2"}
	}
	if o.RootBytes == 0 {
		o.RootBytes = 400 << 20
	}
	if o.Rebalance == (RebalancePlan{}) {
		o.Rebalance = RebalancePlan{Takes: 2 * time.Second, Files: 10}
	}
	return o
}

// Save returns the pool's state. Commands under way are not in it: to a pool
// made from it by Load it looks as if their glusterd had died.
func (p *Pool) Save() ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.save()
}

func (p *Pool) save() ([]byte, error) {
	b, err := json.Marshal(&p.st)
	if err != nil {
		return nil, fmt.Errorf("saving the simulated pool: %w", err)
	}
	return b, nil
}

// Load makes a pool of a saved state; Servers and Roots of o do not count.
func Load(o Options, saved []byte) (*Pool, error) {
	p := newPool(o.withDefaults())
	if err := json.Unmarshal(saved, &p.st); err != nil {
		return nil, fmt.Errorf("loading the simulated pool: %w", err)
	}
	if p.st.Heals == nil {
		p.st.Heals = map[string]Heal{}
	}
	for _, s := range p.st.Servers {
		s.Gate.Running = ""
	}
	return p, nil
}

// OnSave has f called with the saved state after every change; f must not call
// the pool.
func (p *Pool) OnSave(f func([]byte)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.onSave = f
	p.changed()
}

// changed is called, locked, at the end of whatever changed the state.
func (p *Pool) changed() {
	if p.onSave == nil {
		return
	}
	if b, err := p.save(); err == nil {
		p.onSave(b)
	}
}

// Servers lists the names of the servers.
func (p *Pool) Servers() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for _, s := range p.st.Servers {
		out = append(out, s.Name)
	}
	return out
}

// Now is the pool's time.
func (p *Pool) Now() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now()
}

func (p *Pool) now() time.Time {
	if p.opts.Clock != nil {
		return p.opts.Clock()
	}
	return p.st.Now
}

// Advance moves the pool's own clock. With a real clock it does nothing.
func (p *Pool) Advance(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.st.Now = p.st.Now.Add(d)
	p.changed()
}

// Effects lists what was applied, oldest first.
func (p *Pool) Effects() []Effect {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]Effect(nil), p.st.Effects...)
}

const effectsMax = 100_000

func (p *Pool) effect(e Effect) {
	p.st.Seq++
	e.Seq, e.At = p.st.Seq, p.now()
	if len(p.st.Effects) == effectsMax {
		p.st.Effects = p.st.Effects[1:]
	}
	p.st.Effects = append(p.st.Effects, e)
}

// newID makes the next UUID of this seed.
func (p *Pool) newID() string {
	p.st.Made++
	var in [16]byte
	binary.BigEndian.PutUint64(in[:8], p.opts.Seed)
	binary.BigEndian.PutUint64(in[8:], p.st.Made)
	sum := sha256.Sum256(in[:])
	var id uuid.UUID
	copy(id[:], sum[:])
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return id.String()
}

func (p *Pool) server(name string) *server {
	for _, s := range p.st.Servers {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// resolve finds a server by name or address.
func (p *Pool) resolve(host string) *server {
	for _, s := range p.st.Servers {
		if s.Name == host || s.Addr == host {
			return s
		}
	}
	return nil
}

// byPeer finds the server that a peer entry leads to: by its name, since a UUID
// can be that of two (LAB-14).
func (p *Pool) byPeer(e *peer) *server {
	if s := p.resolve(e.Host); s != nil {
		return s
	}
	for _, s := range p.st.Servers {
		if s.Disk.UUID == e.UUID {
			return s
		}
	}
	return nil
}

// linked reports whether two servers can speak to each other.
func linked(a, b *server) bool { return !a.Cut && !b.Cut && !a.Away && !b.Away }

// connected reports whether a's glusterd has a connection to b's. One that is
// stopped keeps it.
func connected(a, b *server) bool { return a.Running && b.Running && linked(a, b) }

// Runner runs commands on one server, as root there would.
func (p *Pool) Runner(server string) gluster.Runner {
	return gluster.RunnerFunc(func(ctx context.Context, c gluster.Command) (gluster.Output, error) {
		return p.Run(ctx, server, c)
	})
}
