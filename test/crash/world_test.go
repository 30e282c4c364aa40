package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gluster/anthill/executor/gate"
	"github.com/gluster/anthill/executor/gluster"
	"github.com/gluster/anthill/executor/gluster/sim"
	"github.com/gluster/anthill/planner"
	"github.com/gluster/anthill/test/local"
)

// A world is the state of a pool's servers, without anything that differs from
// one run to the next: ids stand as the names of what they identify.
type world struct {
	// Owners is whom each server's gate obeys.
	Owners map[string]string
	// Peers are those each server sees, with their state.
	Peers map[string][]string
	// Volumes are those each server sees.
	Volumes map[string][]volume
	// Dirs are the directories below each server's brick roots.
	Dirs map[string][]string
}

type volume struct {
	Name    string
	Type    string
	Status  string
	Bricks  []string // host:path, in order
	Options map[string]string
}

// A server is looked at through these.
type seen struct {
	name  string
	state []byte // gluster get-state
	owner *gate.Owner
	gate  bool
	dirs  []string
}

// normal makes a world of what was seen.
func normal(all []seen) (world, error) {
	w := world{Owners: map[string]string{}, Peers: map[string][]string{}, Volumes: map[string][]volume{}, Dirs: map[string][]string{}}
	ids := map[string]string{} // volume id -> what stands for it
	states := map[string]*gluster.State{}
	for _, s := range all {
		st, err := gluster.ParseState(s.state)
		if err != nil {
			return w, fmt.Errorf("state of %s: %w", s.name, err)
		}
		states[s.name] = st
		for _, v := range st.Volumes {
			if id := v.Options[planner.Marker]; id != "" {
				ids[id] = "<" + v.Name + ">"
			}
		}
	}
	for _, s := range all {
		st := states[s.name]
		switch {
		case !s.gate:
			w.Owners[s.name] = "no gate"
		case s.owner == nil:
			w.Owners[s.name] = "nobody"
		default:
			w.Owners[s.name] = s.owner.Instance
		}
		peers := []string{}
		for _, p := range st.Peers {
			names := p.Names()
			slices.Sort(names)
			peers = append(peers, fmt.Sprintf("%s %s connected=%v", strings.Join(slices.Compact(names), ","), p.State, p.Connected))
		}
		slices.Sort(peers)
		w.Peers[s.name] = peers
		w.Volumes[s.name] = volumes(st, ids)
		dirs := []string{}
		for _, d := range s.dirs {
			dirs = append(dirs, renamed(d, ids))
		}
		slices.Sort(dirs)
		w.Dirs[s.name] = dirs
	}
	return w, nil
}

func volumes(st *gluster.State, ids map[string]string) []volume {
	out := []volume{}
	for _, v := range st.Volumes {
		n := volume{Name: v.Name, Type: v.Type, Status: string(v.Status), Options: map[string]string{}}
		for _, b := range v.Bricks {
			n.Bricks = append(n.Bricks, renamed(b.Host+":"+b.Path, ids))
		}
		for k, value := range v.Options {
			n.Options[k] = renamed(value, ids)
		}
		out = append(out, n)
	}
	slices.SortFunc(out, func(a, b volume) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// renamed replaces volume ids.
func renamed(s string, ids map[string]string) string {
	for id, name := range ids {
		s = strings.ReplaceAll(s, id, name)
	}
	return s
}

// simulated looks at the servers of a simulated pool.
func simulated(p *sim.Pool) (world, error) {
	ctx := context.Background()
	saved, err := p.Save()
	if err != nil {
		return world{}, err
	}
	var files struct {
		Servers []struct {
			Name string
			FS   struct{ Dirs map[string]any }
		}
	}
	if err := json.Unmarshal(saved, &files); err != nil {
		return world{}, err
	}
	var all []seen
	for _, f := range files.Servers {
		s := seen{name: f.Name}
		for d := range f.FS.Dirs {
			s.dirs = append(s.dirs, d)
		}
		if s.state, err = p.GetState(f.Name); err != nil {
			return world{}, fmt.Errorf("state of %s: %w", f.Name, err)
		}
		hello, err := gate.NewClient(p.Transport(f.Name), "", "", nil).Hello(ctx)
		switch {
		case err == nil:
			s.gate, s.owner = true, hello.Owner
		case !errors.Is(err, gate.ErrNotInstalled):
			return world{}, fmt.Errorf("gate of %s: %w", f.Name, err)
		}
		all = append(all, s)
	}
	return normal(all)
}

// observed looks at real servers.
func observed(ctx context.Context, servers []*local.Server) (world, error) {
	var all []seen
	for _, srv := range servers {
		s := seen{name: srv.Name()}
		var err error
		if s.state, err = getState(ctx, srv); err != nil {
			return world{}, err
		}
		if s.gate, s.owner, err = owner(ctx, srv); err != nil {
			return world{}, err
		}
		for _, root := range srv.Bricks() {
			if err := brickDirs(srv, root, &s.dirs); err != nil {
				return world{}, err
			}
		}
		all = append(all, s)
	}
	return normal(all)
}

// getState reads what a server's glusterd knows.
func getState(ctx context.Context, s *local.Server) ([]byte, error) {
	const file = "crash-state"
	if _, err := s.Gluster(ctx, "get-state", "odir", "/run", "file", file); err != nil {
		return nil, fmt.Errorf("state of %s: %w", s.Name(), err)
	}
	return os.ReadFile(s.Path("/run/" + file))
}

// brickDirs lists what is below a brick root, down to the bricks themselves.
func brickDirs(s *local.Server, root string, out *[]string) error {
	at := s.Path(root)
	return filepath.WalkDir(at, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == at {
			return err
		}
		rel, err := filepath.Rel(at, path)
		if err != nil {
			return err
		}
		*out = append(*out, filepath.Join(root, rel))
		if d.IsDir() && d.Name() == "brick" {
			return filepath.SkipDir
		}
		return nil
	})
}

// owner asks a server's gate whom it obeys, on the server itself.
func owner(ctx context.Context, s *local.Server) (installed bool, o *gate.Owner, err error) {
	if _, err := os.Stat(s.Path(gate.BinaryPath)); errors.Is(err, fs.ErrNotExist) {
		return false, nil, nil
	}
	hello, err := gate.NewClient(onServer{s}, "", "", nil).Hello(ctx)
	if err != nil {
		return true, nil, fmt.Errorf("gate of %s: %w", s.Name(), err)
	}
	return true, hello.Owner, nil
}

// onServer reaches a gate by running it on its server.
type onServer struct{ s *local.Server }

// Do implements gate.Transport.
func (t onServer) Do(ctx context.Context, req gate.Request) (gate.Reply, error) {
	in, err := json.Marshal(req)
	if err != nil {
		return gate.Reply{}, err
	}
	cmd := t.s.Command(ctx, gate.BinaryPath)
	cmd.Stdin = strings.NewReader(string(in))
	out, runErr := cmd.Output()
	rep, err := gate.Decode(strings.NewReader(string(out)))
	if err != nil {
		return rep, errors.Join(runErr, err)
	}
	return rep, nil
}
