package corpus

import (
	"context"
	"encoding/xml"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/gluster/anthill/executor/gluster"
)

var uuidPattern = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

func uuidIn(s string) string { return uuidPattern.FindString(s) }

type status struct {
	OpRet    string `xml:"opRet"`
	OpErrno  string `xml:"opErrno"`
	OpErrstr string `xml:"opErrstr"`
	CliOp    string `xml:"cliOp"`
	Output   string `xml:"output"`
}

// essentials is an answer without what differs from pool to pool. What gluster
// says is printed raw; the rest as the typed client reads it, so that the
// comparison covers all that Anthill can see.
func (r *runner) essentials(words []string, out gluster.Output) string {
	var b strings.Builder
	var st status
	if len(words) == 4 && words[3] == "statistics" {
		r.crawls(&b, words[2], out)
		return b.String()
	}
	if xml.Unmarshal(out.Stdout, &st) != nil {
		fmt.Fprintf(&b, "exit %d\n", out.Exit)
		text := strings.TrimSpace(string(out.Stdout))
		if strings.Contains(string(out.Stderr), "Usage:") || strings.Contains(text, "Usage:") {
			text = "Usage" // its words are many
		}
		if text != "" {
			fmt.Fprintf(&b, "text: %s\n", text)
		}
		return b.String()
	}
	fmt.Fprintf(&b, "exit %d, opRet %s, opErrno %s\n", out.Exit, st.OpRet, st.OpErrno)
	for _, l := range []struct{ name, text string }{{"error", st.OpErrstr}, {"op", st.CliOp}, {"output", st.Output}} {
		if text := cutGuess(strings.Join(strings.Fields(l.text), " ")); text != "" {
			fmt.Fprintf(&b, "%s: %s\n", l.name, r.named(text))
		}
	}
	r.parsed(&b, words, out)
	return b.String()
}

// crawls prints which bricks were crawled; when and how often differs.
func (r *runner) crawls(b *strings.Builder, volume string, out gluster.Output) {
	fmt.Fprintf(b, "exit %d\n", out.Exit)
	if out.Exit != 0 {
		fmt.Fprintf(b, "error: %s\n", strings.Join(strings.Fields(string(out.Stderr)), " "))
		return
	}
	c := gluster.NewClient(gluster.RunnerFunc(func(context.Context, gluster.Command) (gluster.Output, error) { return out, nil }))
	crawls, err := c.HealCrawls(context.Background(), volume)
	if err != nil {
		fmt.Fprintf(b, "%v\n", err)
	}
	for _, k := range crawls {
		fmt.Fprintf(b, "crawl of brick %d on %s: finished %v, running %v\n", k.Brick, k.Host, k.Finished > 0, k.Running)
	}
}

// named replaces the UUIDs in a text.
func (r *runner) named(s string) string { return uuidPattern.ReplaceAllStringFunc(s, r.name) }

// parsed prints what the typed client makes of the answer.
func (r *runner) parsed(b *strings.Builder, words []string, out gluster.Output) {
	c := gluster.NewClient(gluster.RunnerFunc(func(context.Context, gluster.Command) (gluster.Output, error) { return out, nil }))
	ctx := context.Background()
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return strings.HasPrefix(w, "--") })
	key := strings.Join(words[:min(2, len(words))], " ")
	last := words[len(words)-1]
	switch {
	case key == "pool list" || key == "peer status":
		if peers, err := c.PoolList(ctx); err == nil {
			r.peers(b, peers)
		}
	case key == "volume info":
		if vols, err := c.VolumeInfo(ctx, ""); err == nil {
			for _, v := range vols {
				r.volume(b, v)
			}
		}
	case key == "volume status":
		if all, err := c.VolumeServices(ctx, ""); err == nil {
			for _, s := range all {
				r.status(b, s)
			}
		}
	case key == "volume heal":
		if bricks, err := c.HealInfoSummary(ctx, ""); err == nil {
			for _, h := range bricks {
				fmt.Fprintf(b, "heal %s uuid=%s counted=%v status=%q\n", h.Brick, r.name(h.PeerUUID), h.Counted, h.Status)
			}
		}
	case key == "volume rebalance" && last == "status":
		if rb, err := c.RebalanceStatus(ctx, ""); err == nil {
			r.rebalance(b, rb)
		}
	default:
		if rep, err := c.Mutate(ctx, "-", append([]string{"gluster"}, words...)); err == nil {
			for _, l := range []struct{ name, id string }{{"volume", rep.VolumeID}, {"task", rep.TaskID}, {"uuid", rep.UUID}} {
				if l.id != "" {
					fmt.Fprintf(b, "%s %s\n", l.name, r.name(l.id))
				}
			}
		}
	}
}

func (r *runner) peers(b *strings.Builder, peers []gluster.Peer) {
	var lines []string
	for _, p := range peers {
		name := r.name(p.UUID)
		if p.Self() {
			lines = append(lines, fmt.Sprintf("peer localhost uuid=%s connected=%v", name, p.Connected))
			continue
		}
		lines = append(lines, fmt.Sprintf("peer %s uuid=%s connected=%v state=%q", strings.Join(p.Names(), ","), name, p.Connected, p.State))
	}
	slices.Sort(lines)
	for _, l := range lines {
		fmt.Fprintln(b, l)
	}
}

func (r *runner) volume(b *strings.Builder, v gluster.Volume) {
	fmt.Fprintf(b, "volume %s id=%s %s %q sets=%d replica=%d arbiter=%d disperse=%d redundancy=%d snapshots=%d\n",
		v.Name, r.name(v.ID), v.Status, v.Type, v.Sets, v.Replica, v.Arbiter, v.Disperse, v.Redundancy, v.Snapshots)
	for _, br := range v.Bricks {
		fmt.Fprintf(b, "  brick %s uuid=%s arbiter=%v\n", br, r.name(br.PeerUUID), br.Arbiter)
	}
	for _, k := range slices.Sorted(maps.Keys(v.Options)) {
		fmt.Fprintf(b, "  option %s=%s\n", k, v.Options[k])
	}
}

func (r *runner) status(b *strings.Builder, s gluster.Status) {
	fmt.Fprintf(b, "status %s\n", s.Volume)
	for _, br := range s.Bricks {
		fmt.Fprintf(b, "  brick %s uuid=%s online=%v port=%v pid=%v sizes=%v\n",
			br.Brick, r.name(br.PeerUUID), br.Online, br.Port > 0, br.PID > 0, br.SizeBytes > 0 && br.FreeBytes > 0)
	}
	var lines []string
	for _, sv := range s.Services {
		lines = append(lines, fmt.Sprintf("  service %s uuid=%s online=%v", sv.Name, r.name(sv.PeerUUID), sv.Online))
	}
	slices.Sort(lines)
	for _, l := range lines {
		fmt.Fprintln(b, l)
	}
	for _, t := range s.Tasks {
		fmt.Fprintf(b, "  task %s %s %s\n", t.Type, r.name(t.ID), t.Status)
	}
}

func (r *runner) rebalance(b *strings.Builder, rb gluster.Rebalance) {
	fmt.Fprintf(b, "rebalance %s\n", r.name(rb.TaskID))
	var lines []string
	for _, n := range rb.Nodes {
		lines = append(lines, fmt.Sprintf("  node uuid=%s self=%v %s failures=%d skipped=%d", r.name(n.PeerUUID), n.Name == "localhost", n.Status, n.Failures, n.Skipped))
	}
	slices.Sort(lines)
	for _, l := range lines {
		fmt.Fprintln(b, l)
	}
}

// state prints a server's own view, from get-state.
func (r *runner) state(ctx context.Context, server string) (string, error) {
	out, err := r.t.Gluster(ctx, server, []string{"gluster", "get-state"})
	if err != nil {
		return "", err
	}
	s, err := gluster.ParseState(out.Stdout)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "own=%s op-version=%d\n", r.name(s.UUID), s.OpVersion)
	for _, k := range slices.Sorted(maps.Keys(s.Options)) {
		fmt.Fprintf(&b, "option %s=%s\n", k, s.Options[k])
	}
	r.peers(&b, s.Peers)
	for _, v := range s.Volumes {
		r.volume(&b, v.Volume)
		for _, br := range v.Bricks {
			if br.Local {
				fmt.Fprintf(&b, "  local %s started=%v online=%v port=%v sizes=%v\n", br.Brick, br.Started, br.Online(), br.Port > 0, br.SizeBytes > 0)
			}
		}
		fmt.Fprintf(&b, "  rebalance %s %s failures=%d skipped=%d\n", r.name(v.Rebalance.TaskID), v.Rebalance.Word, v.Rebalance.Failures, v.Rebalance.Skipped)
		fmt.Fprintf(&b, "  self-heal=%v quorum=%s\n", v.SelfHeal, v.QuorumWord)
	}
	return b.String(), nil
}
