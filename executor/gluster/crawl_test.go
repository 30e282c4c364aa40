package gluster

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// crawled was captured from GlusterFS 10.3; of the last crawl the end was cut off
// and what the program has for it put in its place.
const crawled = `Gathering crawl statistics on volume v has been successful 
------------------------------------------------

Crawl statistics for brick no 0
Hostname of brick s1

Starting time of crawl: Tue Dec  1 10:10:51 2026

Ending time of crawl: Tue Dec  1 10:10:51 2026

Type of crawl: INDEX
No. of entries healed: 0
No. of entries in split-brain: 0
No. of heal failed entries: 0

Starting time of crawl: Tue Dec  1 10:11:02 2026

Ending time of crawl: Tue Dec  1 10:11:03 2026

Type of crawl: INDEX
No. of entries healed: 25
No. of entries in split-brain: 0
No. of heal failed entries: 24
------------------------------------------------

Crawl statistics for brick no 2
Hostname of brick s3

Starting time of crawl: Tue Dec  1 10:10:51 2026

Crawl is in progress
Type of crawl: INDEX
No. of entries healed: 3
`

func TestHealCrawls(t *testing.T) {
	cases := map[string]struct {
		reason string
		out    Output
		want   []Crawl
	}{
		"Crawls": {"two of one brick, one under way of another", Output{Stdout: []byte(crawled)},
			[]Crawl{{Brick: 0, Host: "s1", Finished: 2}, {Brick: 2, Host: "s3", Running: true}}},
		"NoDaemon": {"what is not known is not over", Output{Exit: 1, Stderr: []byte("Gathering crawl statistics on volume v has been unsuccessful:\nSelf-heal daemon is not running. Check self-heal daemon log file.\n")}, nil},
		"Cut":      {"the rest may say otherwise", Output{Stdout: []byte(crawled), Truncated: true}, nil},
		"Nothing":  {"an answer about no brick", Output{Stdout: []byte("Gathering crawl statistics on volume v has been successful \n")}, nil},
		"Number":   {"no brick has this number", Output{Stdout: []byte("Crawl statistics for brick no x\n")}, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var asked []string
			c := NewClient(RunnerFunc(func(_ context.Context, cmd Command) (Output, error) {
				asked = cmd.Argv
				return tc.out, nil
			}))
			got, err := c.HealCrawls(t.Context(), "v")
			if (err == nil) != (tc.want != nil) {
				t.Errorf("%s: error %v", tc.reason, err)
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, d)
			}
			if got := strings.Join(asked, " "); got != "gluster --mode=script --xml volume heal v statistics" {
				t.Errorf("it ran %q", got)
			}
		})
	}
}
