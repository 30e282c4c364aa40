package cluster

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/test/await"
	"github.com/gluster/anthill/test/local"
)

// Status tells how the cluster of cfg is, also when it is half up or half down.
func Status(ctx context.Context, cfg Config) ([]local.ComponentStatus, error) {
	e, err := Inspect(cfg)
	if err != nil {
		return nil, err
	}
	return e.Status(ctx), nil
}

// Status asks every part of the cluster how it is, all at the same time.
func (e *Env) Status(ctx context.Context) []local.ComponentStatus {
	if !e.Ours() {
		return e.foreignStatus(ctx)
	}
	if e.client == nil { // killed before there was anything of this package
		return e.local.Status(ctx)
	}
	var asks []func(context.Context) local.ComponentStatus
	for _, c := range e.components() {
		asks = append(asks, func(ctx context.Context) local.ComponentStatus { return e.componentStatus(ctx, c) })
	}
	for _, n := range e.Nodes() {
		asks = append(asks, n.status)
	}
	out := make([]local.ComponentStatus, len(asks))
	jobs := make([]func(context.Context) error, len(asks))
	for i, ask := range asks {
		jobs[i] = func(ctx context.Context) error { out[i] = ask(ctx); return nil }
	}
	// The jobs report through out and never fail.
	_ = await.All(ctx, jobs)
	return append(e.local.Status(ctx), out...)
}

func (e *Env) componentStatus(ctx context.Context, c component) local.ComponentStatus {
	run := e.local.Component(c.name)
	s := local.ComponentStatus{Name: c.name, Address: e.local.HostIP(), Log: run.LogFile()}
	if !run.Running() {
		return s.Sick("not running: killed, or it died; up starts it")
	}
	if err := c.ready(ctx); err != nil {
		return s.Sick("%s", await.FirstLine(err))
	}
	return s.Well("serves")
}

// status says what is wrong with the node, the cause before what follows from it.
func (n *Node) status(ctx context.Context) local.ComponentStatus {
	s := local.ComponentStatus{Name: n.Name(), Address: n.IP(), Log: n.logFile(kubeletName)}
	switch {
	case !n.guest.Running():
		return s.Sick("not running: killed, or its pid 1 died")
	case n.guest.IsPaused():
		return s.Sick("paused: its processes are stopped")
	case n.guest.IsCut():
		return s.Sick("cut off from the network")
	}
	for _, p := range n.parts() {
		s.Log = n.logFile(p.name)
		if running, err := n.running(p.name); err != nil || !running {
			return s.Sick("%s is not running", p.name)
		}
		if p.ready == nil {
			continue
		}
		ctx, cancel := context.WithTimeoutCause(ctx, probeMax, fmt.Errorf("no answer within %v", probeMax))
		err := p.ready(ctx)
		cancel()
		if err != nil {
			return s.Sick("%s does not serve: %s", p.name, await.FirstLine(err))
		}
	}
	s.Log = n.logFile(kubeletName)
	if err := n.ready(ctx); err != nil {
		return s.Sick("%s", await.FirstLine(err))
	}
	devices, err := n.Devices()
	if err != nil {
		return s.Sick("%s", await.FirstLine(err))
	}
	return s.Well("ready, %d devices", len(devices))
}

// foreignStatus says of a cluster that is not ours which of its nodes are ready.
func (e *Env) foreignStatus(ctx context.Context) []local.ComponentStatus {
	ctx, cancel := context.WithTimeoutCause(ctx, probeMax, fmt.Errorf("no answer within %v", probeMax))
	defer cancel()
	api := local.ComponentStatus{Name: "kube-apiserver", Address: e.config.Host}
	nodes, err := e.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return []local.ComponentStatus{api.Sick("%s", await.FirstLine(errors.Join(err, context.Cause(ctx))))}
	}
	out := []local.ComponentStatus{api.Well("answers; named by %s", kubeconfigVariable)}
	for i := range nodes.Items {
		s := local.ComponentStatus{Name: nodes.Items[i].Name}
		if err := nodeReady(&nodes.Items[i]); err != nil {
			out = append(out, s.Sick("%s", await.FirstLine(err)))
			continue
		}
		out = append(out, s.Well("ready"))
	}
	return out
}

// LogFiles maps each component to its log files that exist.
func (e *Env) LogFiles() map[string][]string {
	if !e.Ours() {
		return nil
	}
	out := e.local.Logs()
	if e.client == nil {
		return out
	}
	for _, name := range []string{controllerManagerName, schedulerName, corednsName} {
		out[name] = []string{e.local.Component(name).LogFile()}
	}
	for _, n := range e.Nodes() {
		out[n.guest.Key()] = []string{filepath.Join(n.Dir(), "init.log")}
		for _, p := range n.parts() {
			out[n.guest.Key()] = append(out[n.guest.Key()], n.logFile(p.name))
		}
	}
	return out
}
