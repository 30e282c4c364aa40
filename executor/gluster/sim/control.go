package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// An Order is what a served pool is told through its control socket; its
// methods are those of Pool.
type Order struct {
	Op     string `json:"op"` // see Control.Do
	Server string `json:"server,omitempty"`
	Path   string `json:"path,omitempty"`
	Volume string `json:"volume,omitempty"`
	Value  string `json:"value,omitempty"`
	Yes    bool   `json:"yes,omitempty"`
	Rule   *Rule  `json:"rule,omitempty"`

	Device    *Device        `json:"device,omitempty"`
	Heal      *Heal          `json:"heal,omitempty"`
	Rebalance *RebalancePlan `json:"rebalance,omitempty"`
}

// A Report answers an Order.
type Report struct {
	Error   string   `json:"error,omitempty"`
	Effects []Effect `json:"effects,omitempty"`
	Rules   []Rule   `json:"rules,omitempty"`
	Servers []string `json:"servers,omitempty"`
	Text    string   `json:"text,omitempty"`
}

const orderBytesMax = 1 << 20

// controlConn answers the orders of one connection, a JSON value each.
func (p *Pool) controlConn(_ context.Context, conn net.Conn) {
	d := json.NewDecoder(&io.LimitedReader{R: conn, N: orderBytesMax})
	e := json.NewEncoder(conn)
	for {
		var o Order
		if err := d.Decode(&o); err != nil {
			return
		}
		rep, err := p.obey(o)
		if err != nil {
			rep.Error = err.Error()
		}
		if err := e.Encode(rep); err != nil {
			return
		}
	}
}

func (p *Pool) obey(o Order) (rep Report, err error) {
	switch o.Op {
	case "servers":
		rep.Servers = p.Servers()
	case "effects":
		rep.Effects = p.Effects()
	case "rules":
		rep.Rules = p.Rules()
	case "history":
		rep.Text = string(p.History(o.Server))
	case "state":
		var b []byte
		b, err = p.GetState(o.Server)
		rep.Text = string(b)
	case "uuid":
		rep.Text = p.UUID(o.Server)
	case "rule":
		if o.Rule == nil {
			return rep, errors.New("the rule is missing")
		}
		err = p.AddRule(*o.Rule)
	case "release":
		err = p.Release(o.Value)
	case "clear-rules":
		p.ClearRules()
	case "kill":
		err = p.Kill(o.Server)
	case "start":
		err = p.Start(o.Server)
	case "stop":
		err = p.Stop(o.Server)
	case "continue":
		err = p.Continue(o.Server)
	case "cut":
		err = p.Cut(o.Server)
	case "heal":
		err = p.Heal(o.Server)
	case "power":
		err = p.Power(o.Server, o.Yes)
	case "dark":
		err = p.Darken(o.Server, o.Yes)
	case "kill-brick":
		err = p.KillBrick(o.Server, o.Path)
	case "mount":
		err = p.Mount(o.Server, o.Path, o.Yes)
	case "read-only":
		err = p.ReadOnly(o.Server, o.Path, o.Yes)
	case "swap-disk":
		err = p.SwapDisk(o.Server, o.Path)
	case "mkdir":
		err = p.MakeDir(o.Server, o.Path)
	case "rmdir":
		err = p.RemoveDir(o.Server, o.Path)
	case "mark":
		err = p.Mark(o.Server, o.Path, o.Value, o.Yes)
	case "set-uuid":
		err = p.SetUUID(o.Server, o.Value)
	case "restart-pod":
		err = p.RestartPod(o.Server)
	case "set-device":
		if o.Device == nil {
			return rep, errors.New("the device is missing")
		}
		err = p.SetDevice(o.Server, *o.Device)
	case "set-heal":
		if o.Heal != nil {
			p.SetHeal(o.Volume, o.Path, *o.Heal)
		}
	case "set-rebalance":
		if o.Rebalance != nil {
			p.SetRebalance(*o.Rebalance)
		}
	default:
		err = fmt.Errorf("order %q is unknown", o.Op)
	}
	return rep, err
}

// A Control gives orders to a served pool.
type Control struct{ path string }

// DialControl returns the control of the pool that is served in dir. It
// connects only when asked.
func DialControl(dir string) *Control { return &Control{path: ControlSocket(dir)} }

// Do carries out one order: "servers", "effects", "rules", "history", "state",
// "uuid" tell; "rule" (Rule), "release" (Value: its name) and "clear-rules"
// are for faults; "kill", "start", "stop", "continue" are for a server's
// glusterd, "cut" and "heal" for its network, "power" and "dark" (Yes) for the
// whole of it, "kill-brick" (Path), "mount" (Path, Yes), "read-only" (Path,
// Yes), "swap-disk", "mkdir", "rmdir" (Path), "mark" (Path, Value: volume id,
// Yes: with data), "set-uuid" (Value) for what it holds; "restart-pod" and
// "set-device" (Device) for a server that is a pod; "set-heal" (Volume,
// Path: host:/path, Heal) and "set-rebalance" (Rebalance) say how things go.
func (c *Control) Do(ctx context.Context, o Order) (Report, error) {
	var rep Report
	fail := func(err error) (Report, error) {
		return rep, fmt.Errorf("ordering %q: %w", o.Op, err)
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", c.path)
	if err != nil {
		return fail(err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := json.NewEncoder(conn).Encode(o); err != nil {
		return fail(errors.Join(ctx.Err(), err))
	}
	if err := json.NewDecoder(conn).Decode(&rep); err != nil {
		return fail(errors.Join(ctx.Err(), err))
	}
	if rep.Error != "" {
		return fail(errors.New(rep.Error))
	}
	return rep, nil
}
