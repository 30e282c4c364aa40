package sim

import (
	"context"
	"fmt"
	"strings"

	"github.com/gluster/anthill/executor/gluster"
)

// SetCrawl says whether the self-heal daemon of a brick ("host:/path") is on its
// way through what the brick has to be healed. At rest it has been once.
func (p *Pool) SetCrawl(volume, brick string, running bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.st.Crawls == nil {
		p.st.Crawls = map[string]bool{}
	}
	p.st.Crawls[volume+" "+brick] = running
	p.changed()
}

// healStatistics tells of crawls, in words: glusterd has no XML for it. A daemon
// tells of the bricks of its own server.
func (c *call) healStatistics(ctx context.Context) (gluster.Output, error) {
	name := c.arg(2)
	fail := func(_ int, text string) gluster.Output {
		return gluster.Output{Exit: 1, Stderr: fmt.Appendf(nil, "Gathering crawl statistics on volume %s has been unsuccessful:\n%s\n", name, text)}
	}
	if out, done, err := c.locked(ctx, fail); done {
		return out, err
	}
	switch v := c.s.Mem.Volumes[name]; {
	case v == nil:
		return fail(0, fmt.Sprintf("Volume %s does not exist", name)), nil
	case !v.started():
		return fail(0, fmt.Sprintf("Volume %s is not started.", name)), nil
	case !v.healing():
		return fail(0, "Self-heal-daemon is disabled. Heal will not be triggered on volume "+name), nil
	case v.Disperse > 0:
		return fail(0, fmt.Sprintf("This command is supported for only volume of replicated type. Volume %s is not of type replicate", name)), nil
	default:
		return gluster.Output{Stdout: []byte(c.crawls(v))}, nil
	}
}

func (c *call) crawls(v *volume) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Gathering crawl statistics on volume %s has been successful \n", v.Name)
	at := c.reachable()
	stamp := c.p.now().Format("Mon Jan _2 15:04:05 2006")
	for i, br := range v.Bricks {
		fmt.Fprintf(&b, "------------------------------------------------\n\nCrawl statistics for brick no %d\nHostname of brick %s\n", i, br.Host)
		if s := at[br.UUID]; s == nil || s.online(br) == nil {
			continue // nobody tells of it
		}
		const counts = "Type of crawl: INDEX\nNo. of entries healed: 0\nNo. of entries in split-brain: 0\nNo. of heal failed entries: 0\n"
		fmt.Fprintf(&b, "\nStarting time of crawl: %s\n\nEnding time of crawl: %s\n\n"+counts, stamp, stamp)
		if c.p.st.Crawls[v.Name+" "+br.String()] {
			fmt.Fprintf(&b, "\nStarting time of crawl: %s\n\nCrawl is in progress\nType of crawl: INDEX\nNo. of entries healed: 0\n", stamp)
		}
	}
	return b.String()
}
