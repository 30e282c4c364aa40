package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gluster/anthill/test/local"
)

// What gluster writes down on a server.
const (
	historyFile = "/var/log/glusterfs/cmd_history.log"
	runsFile    = "/var/log/glusterfs/cli.log"
	logTime     = "2006-01-02 15:04:05.999999 -0700"
)

// A given is one command that a glusterd was given, as it wrote it down when
// that had ended.
type given struct {
	at   time.Time
	text string
}

// A place is the root of a server's files.
type place struct{ name, root string }

func placesOf(servers []*local.Server) []place {
	var out []place
	for _, s := range servers {
		out = append(out, place{s.Name(), s.Root()})
	}
	return out
}

// historyOf reads what the glusterds of all servers were given.
func historyOf(servers []place) ([]given, error) {
	var out []given
	err := eachLog(servers, historyFile, func(text string) { out = append(out, parseHistory(text)...) })
	return out, err
}

// runsOf reads when the gluster command ran on servers. It says so once it is
// loaded, a few milliseconds after it was started.
func runsOf(servers []place) ([]span, error) {
	var out []span
	err := eachLog(servers, runsFile, func(text string) { out = append(out, parseRuns(text)...) })
	return out, err
}

func eachLog(servers []place, file string, read func(text string)) error {
	for _, s := range servers {
		raw, err := os.ReadFile(filepath.Join(s.root, file))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("reading a log of %s: %w", s.name, err)
		}
		read(string(raw))
	}
	return nil
}

// parseHistory reads lines "[time]  : command : SUCCESS"; others go on with
// the text of a failure.
func parseHistory(text string) []given {
	var out []given
	for line := range strings.Lines(text) {
		at, rest, ok := stamped(line)
		if command, is := strings.CutPrefix(rest, "  : "); ok && is {
			out = append(out, given{at: at, text: command})
		}
	}
	return out
}

// parseRuns reads the command's own log. Runs at the same time are one span:
// the log does not tell which of them ended.
func parseRuns(text string) []span {
	var out []span
	running := 0
	for line := range strings.Lines(text) {
		at, rest, ok := stamped(line)
		switch {
		case !ok:
		case strings.Contains(rest, "Started running"):
			if running++; running == 1 {
				out = append(out, span{from: at, to: at})
			}
		case strings.Contains(rest, "Exiting with") && running > 0:
			running--
			out[len(out)-1].to = at
		}
	}
	return out
}

// stamped cuts the time off a line of a log of gluster's.
func stamped(line string) (at time.Time, rest string, ok bool) {
	stamp, rest, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "]")
	if !ok || !strings.HasPrefix(stamp, "[") {
		return at, "", false
	}
	at, err := time.Parse(logTime, stamp[1:])
	return at, rest, err == nil
}
