package gluster

import (
	"strings"
	"time"
)

// An Outcome is the line that glusterd writes into its cmd_history.log when a
// command that it originated has ended, whether or not its client still waits.
type Outcome struct {
	At        time.Time // when it ended, the server's clock
	Command   string    // as logged: without "gluster" and options
	Succeeded bool
	Text      string // why it failed, or what it said; lines joined
}

// HistoryFind finds the first outcome, at or after since, of the command that
// argv is in the tail of a cmd_history.log. since is on the server's clock. Not
// found proves nothing: the log can have been rotated, and reads (volume info,
// volume get, pool list) are never logged.
//
// A command that was sent twice has two outcomes: see HistoryAll.
func HistoryFind(tail []byte, argv []string, since time.Time) (Outcome, bool) {
	if all := HistoryAll(tail, argv, since); len(all) > 0 {
		return all[0], true
	}
	return Outcome{}, false
}

// HistoryAll finds all outcomes, at or after since, of the command that argv
// is, oldest first.
func HistoryAll(tail []byte, argv []string, since time.Time) []Outcome {
	want := strings.Join(words(argv), " ")
	var out []Outcome
	var last *Outcome // that a line without a date belongs to
	for line := range strings.Lines(string(tail)) {
		if o, ok := parseHistory(strings.TrimSuffix(line, "\n"), want); ok {
			last = nil
			if o.Command == want && !o.At.Before(since) {
				out = append(out, o)
				last = &out[len(out)-1]
			}
			continue
		}
		if last != nil {
			last.Text = oneLine(last.Text + " " + line)
		}
	}
	return out
}

const historyTime = "2006-01-02 15:04:05.999999 -0700"

// parseHistory reads "[time]  : command : SUCCESS : text". The command can hold
// " : " itself, so the wanted one is tried as a whole first.
func parseHistory(line, want string) (Outcome, bool) {
	stamp, rest, ok := strings.Cut(line, "]  : ")
	if !ok || !strings.HasPrefix(stamp, "[") {
		return Outcome{}, false
	}
	at, err := time.Parse(historyTime, stamp[1:])
	if err != nil {
		return Outcome{}, false
	}
	o := Outcome{At: at}
	if tail, ok := strings.CutPrefix(rest, want+" : "); ok {
		if o.Succeeded, o.Text, ok = parseResult(tail); ok {
			o.Command = want
			return o, true
		}
	}
	o.Command, _, _ = strings.Cut(rest, " : ")
	return o, true
}

func parseResult(s string) (succeeded bool, text string, ok bool) {
	word, text, _ := strings.Cut(strings.TrimSpace(s), " : ")
	switch strings.TrimSpace(word) {
	case "SUCCESS":
		return true, oneLine(text), true
	case "FAILED":
		return false, oneLine(text), true
	}
	return false, "", false
}
