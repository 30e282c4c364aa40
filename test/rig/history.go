package rig

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gluster/anthill/test/local"
)

// CommandLog is where glusterd notes the commands it was given.
const CommandLog = "/var/log/glusterfs/cmd_history.log"

// reads are the commands that change nothing: how they begin, and after an
// asterisk how they end or go on.
var reads = []string{"get-state", "pool list", "peer status", "system:: ", "volume info", "volume status", "volume list", "volume get ",
	"volume heal * info", "volume rebalance * status", "snapshot list", "snapshot info", "global help"}

// A Command is a line of a glusterd's history.
type Command struct {
	Text    string // without the word gluster
	Success bool
}

func (c Command) String() string {
	if c.Success {
		return c.Text + " : SUCCESS"
	}
	return c.Text + " : FAILED"
}

// Changes are the commands that this server's glusterd was given, oldest first,
// and that are not known to change nothing.
func Changes(s *local.Server) ([]Command, error) {
	data, err := os.ReadFile(filepath.Join(s.Root(), CommandLog))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the history of %s: %w", s.Name(), err)
	}
	return ChangesIn(data), nil
}

// ChangesIn are the commands of a glusterd's history that are not known to
// change nothing.
func ChangesIn(history []byte) []Command {
	var out []Command
	for line := range strings.Lines(string(history)) {
		// [time]  : volume set v1 a b : SUCCESS
		_, text, ok := strings.Cut(strings.TrimSpace(line), "]")
		if !ok {
			continue
		}
		text = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), ":"))
		c := Command{Text: text}
		if before, after, ok := strings.Cut(text, " : "); ok {
			c.Text, c.Success = strings.TrimSpace(before), strings.HasPrefix(after, "SUCCESS")
		}
		if !isRead(c.Text) {
			out = append(out, c)
		}
	}
	return out
}

func isRead(text string) bool {
	return slices.ContainsFunc(reads, func(p string) bool {
		head, tail, middle := strings.Cut(p, "*")
		return strings.HasPrefix(text, head) && (!middle || strings.Contains(text[len(head):], tail))
	})
}

// AllChanges is Changes of several servers, by name.
func AllChanges(servers ...*local.Server) (map[string][]Command, error) {
	out := map[string][]Command{}
	for _, s := range servers {
		c, err := Changes(s)
		if err != nil {
			return nil, err
		}
		out[s.Name()] = c
	}
	return out, nil
}
