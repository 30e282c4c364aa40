package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gluster/anthill/test/await"
)

// statusProbeMax bounds each question that Status asks.
const statusProbeMax = 5 * time.Second

// A ComponentStatus says how one part of an environment is.
type ComponentStatus struct {
	Name    string `json:"name"`
	Address string `json:"address,omitempty"`
	Healthy bool   `json:"healthy"`
	// State is one line: what it does when healthy, what is wrong when not.
	State string `json:"state"`
	// Log is the file to look into.
	Log string `json:"log,omitempty"`
}

// Status asks every part of the environment how it is, all at the same time.
func (e *Env) Status(ctx context.Context) []ComponentStatus {
	asks := []func(context.Context) ComponentStatus{e.status}
	if e.APIServer != nil {
		asks = append(asks, e.APIServer.status)
	}
	for _, s := range e.Servers() {
		asks = append(asks, s.status)
	}
	for _, m := range e.Mounts() {
		asks = append(asks, m.status)
	}
	out := make([]ComponentStatus, len(asks))
	jobs := make([]func(context.Context) error, len(asks))
	for i, ask := range asks {
		jobs[i] = func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, statusProbeMax)
			defer cancel()
			out[i] = ask(ctx)
			return nil
		}
	}
	// The jobs report through out and never fail.
	_ = await.All(ctx, jobs)
	return out
}

// status says how far the environment as a whole is.
func (e *Env) status(context.Context) ComponentStatus {
	c := ComponentStatus{Name: "environment", Address: e.net.net + ".0/24", Log: e.dir}
	if p := e.load().Phase; p != phaseUp {
		return c.Sick("only %s: a run was killed or still is at work; up or down goes on from here", p)
	}
	return c.Well("up in %s", e.dir)
}

// Sick returns c with what is wrong.
func (c ComponentStatus) Sick(format string, args ...any) ComponentStatus {
	c.State = fmt.Sprintf(format, args...)
	return c
}

// Well returns c healthy.
func (c ComponentStatus) Well(format string, args ...any) ComponentStatus {
	c.Healthy = true
	return c.Sick(format, args...)
}

func (a *APIServer) status(ctx context.Context) ComponentStatus {
	c := ComponentStatus{Name: apiServerName, Address: a.URL(), Log: a.env.logFile(apiServerName)}
	if err := a.probe(ctx); err != nil {
		return c.Sick("%s", await.FirstLine(err))
	}
	return c.Well("ready")
}

// status of what any machine can be.
func (m *Machine) status() (ComponentStatus, bool) {
	c := ComponentStatus{Name: m.name, Address: m.IP(), Log: m.initLog()}
	switch {
	case !m.Running():
		return c.Sick("not running: killed, or its pid 1 died"), false
	case m.IsPaused():
		return c.Sick("paused: its processes are stopped"), false
	default:
		return c, true
	}
}

func (s *Server) status(ctx context.Context) ComponentStatus {
	c, ok := s.Machine.status()
	if !ok {
		return c
	}
	c.Log = filepath.Join(s.Root(), glusterdLogFile)
	if s.IsCut() {
		return c.Sick("cut off from the network")
	}
	for _, d := range s.disks {
		if _, err := s.Exec(ctx, "mountpoint", "-q", d.Dir); err != nil {
			return c.Sick("%s is not mounted", d.Dir)
		}
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(s.IP(), "22"))
	if err != nil {
		return c.Sick("sshd does not accept connections: %s", await.FirstLine(err))
	}
	conn.Close()
	out, err := s.Gluster(ctx, "--timeout=4", "pool", "list")
	if err != nil {
		return c.Sick("glusterd does not answer: %s", await.FirstLine(err))
	}
	// A heading, the server itself, its peers.
	return c.Well("glusterd answers, %d peers", max(0, strings.Count(string(out), "\n")-2))
}

func (m *Mount) status(ctx context.Context) ComponentStatus {
	c, ok := m.Machine.status()
	if !ok {
		return c
	}
	c.Log = filepath.Join(m.Root(), fuseLogFile)
	if m.IsCut() {
		return c.Sick("cut off from the network")
	}
	if _, err := m.Exec(ctx, "stat", m.Inner()); err != nil {
		return c.Sick("the mount of %s does not answer: %s", m.volume, await.FirstLine(err))
	}
	r, err := m.WriterReport()
	switch p, _ := m.writerProcess(); {
	case errors.Is(err, fs.ErrNotExist):
		return c.Well("%s is mounted", m.volume)
	case err != nil:
		return c.Sick("%s", await.FirstLine(err))
	case r.Problem() != "":
		return c.Sick("writer on %s: %s", m.volume, r.Problem())
	case r.Done:
		return c.Well("%s is mounted; the writer wrote %d files, verified %d, and was stopped", m.volume, r.Written, r.Verified)
	case p.PID == 0:
		return c.Sick("the writer on %s died", m.volume)
	default:
		return c.Well("%s is mounted; writer: %d files written, %d read, no error", m.volume, r.Written, r.Read)
	}
}

// Logs maps each component to its log files that exist, the telling ones first.
func (e *Env) Logs() map[string][]string {
	out := map[string][]string{}
	for _, name := range []string{etcdName, apiServerName} {
		out[name] = existing(e.logFile(name))
	}
	for _, s := range e.Servers() {
		in := func(path string) string { return filepath.Join(s.Root(), path) }
		out[s.key] = existing(s.initLog(), in(sshdLogFile), in(glusterdLogFile),
			in("/var/log/glusterfs/cmd_history.log"), in("/var/log/glusterfs/glustershd.log"))
		bricks, _ := filepath.Glob(in("/var/log/glusterfs/bricks/*.log"))
		out[s.key] = append(out[s.key], bricks...)
	}
	for _, m := range e.Mounts() {
		out[m.key] = existing(m.initLog(), filepath.Join(m.Root(), fuseLogFile), filepath.Join(m.Root(), writerLogFile))
	}
	for name, files := range out {
		if len(files) == 0 {
			delete(out, name)
		}
	}
	return out
}

// existing keeps the files that are there and not empty.
func existing(files ...string) []string {
	var out []string
	for _, f := range files {
		if info, err := os.Stat(f); err == nil && info.Size() > 0 {
			out = append(out, f)
		}
	}
	return out
}
