package gluster

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// A Crawl is what a brick's self-heal daemon says of its walks through what the
// brick knows is to be healed. It remembers the last fifty since it started.
type Crawl struct {
	Brick    int // place in the volume, from 0
	Host     string
	Finished int
	Running  bool // one is under way
}

// HealCrawls tells of the crawls of all bricks whose self-heal daemon answers.
// glusterd has no XML for it, and takes the volume's lock. Of replicated volumes
// only.
func (c *Client) HealCrawls(ctx context.Context, name string) ([]Crawl, error) {
	cmd := Command{Argv: ArgvHealStatistics(name), Deadline: c.deadline.heal}
	out, err := c.runner.Run(ctx, cmd)
	if err != nil {
		return nil, sendError(cmd, err)
	}
	if out.Exit != 0 || out.Truncated || out.TimedOut {
		return nil, incomplete(cmd.Argv, "exit %d, cut %v: %.200q", out.Exit, out.Truncated, oneLine(string(out.Stderr)))
	}
	crawls, err := parseCrawls(string(out.Stdout))
	if err != nil {
		return nil, incomplete(cmd.Argv, "%v", err)
	}
	return crawls, nil
}

func parseCrawls(text string) ([]Crawl, error) {
	var crawls []Crawl
	var last *Crawl
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if no, ok := strings.CutPrefix(line, "Crawl statistics for brick no "); ok {
			n, err := strconv.Atoi(no)
			if err != nil || n < 0 {
				return nil, fmt.Errorf("brick number %q", no)
			}
			crawls = append(crawls, Crawl{Brick: n})
			last = &crawls[len(crawls)-1]
			continue
		}
		if last == nil {
			continue
		}
		switch {
		case strings.HasPrefix(line, "Hostname of brick "):
			last.Host = strings.TrimPrefix(line, "Hostname of brick ")
		case strings.HasPrefix(line, "Starting time of crawl:"):
			last.Running = true
		case strings.HasPrefix(line, "Ending time of crawl:"):
			last.Running = false
			last.Finished++
		}
	}
	if len(crawls) == 0 {
		return nil, fmt.Errorf("no brick in the answer: %.80q", text)
	}
	return crawls, nil
}
