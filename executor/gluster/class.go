package gluster

import (
	"regexp"
	"strings"
)

// busyErrno is EG_ANOTRANS: another transaction holds the lock (LAB-20).
const busyErrno = 30802

// phases maps the words in front of " failed on HOST" to a phase.
var phases = map[string]Phase{
	"Locking":         PhaseLock,
	"Staging":         PhaseStage,
	"Pre Validation":  PhaseStage,
	"Pre-validation":  PhaseStage,
	"Brick ops":       PhaseBrickOp,
	"Commit":          PhaseCommit,
	"Post commit":     PhasePost,
	"Post Validation": PhasePost,
	"Post-validation": PhasePost,
	"Unlocking":       PhaseUnlock,
}

// phaseLine is "<phase> failed on <host>. <inner>"; the dot after a host, which
// may hold dots itself, is the one before a blank or the end.
var phaseLine = regexp.MustCompile(
	`^(Locking|Staging|Pre Validation|Pre-validation|Brick ops|Commit|Post commit|Post Validation|Post-validation|Unlocking)` +
		` failed on (\S+?)\.?(?:\s+(.*))?$`)

// classify reads an answer in XML. Several servers that fail give several
// lines: the worst of them counts.
func (e *Error) classify(mutates bool) {
	if e.OpErrno == busyErrno {
		e.Verdict, e.Class, e.Reason, e.Phase, e.Inner = Retry, Busy, ReasonAnotherTransaction, PhaseLock, e.Text
		e.Text = oneLine(e.Text)
		return
	}
	worst := Error{}
	for _, line := range phaseLines(e.Text) {
		one := Error{Argv: e.Argv, OpRet: e.OpRet, OpErrno: e.OpErrno}
		one.classifyLine(line)
		if badness(one.Verdict) > badness(worst.Verdict) {
			worst = one
		}
	}
	e.Verdict, e.Class, e.Reason = worst.Verdict, worst.Class, worst.Reason
	e.Phase, e.Host, e.Inner = worst.Phase, worst.Host, worst.Inner
	e.Text = oneLine(e.Text)
	if !mutates {
		e.readOnly()
	}
}

// classifyPlain reads an answer that is not XML.
func (e *Error) classifyPlain(mutates bool) {
	e.Inner, e.Text = oneLine(e.Text), oneLine(e.Text)
	e.Phase = PhaseSend
	for _, r := range plainTable {
		if _, ok := r.match(e); ok {
			e.Verdict, e.Class, e.Reason = r.verdict, r.class, r.reason
			e.TimedOut = e.TimedOut || r.reason == ReasonTimedOut
			if !mutates {
				e.readOnly()
			}
			return
		}
	}
	e.Verdict, e.Class, e.Reason = Unknown, Uncertain, ReasonBadOutput
	if !mutates {
		e.readOnly()
	}
}

// readOnly: a read that failed changed nothing, whatever was said.
func (e *Error) readOnly() {
	if e.Verdict == Unknown {
		e.Verdict, e.Class = Retry, Transient
	}
}

// phaseLines splits the errors of several servers; a text whose further lines
// name no phase stays one ("Did you mean ...").
func phaseLines(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if len(out) == 0 || phaseLine.MatchString(oneLine(line)) {
			out = append(out, line)
			continue
		}
		out[len(out)-1] += line
	}
	if len(out) == 0 {
		return []string{""}
	}
	return out
}

// classifyLine: the phase first, then the words behind it.
func (e *Error) classifyLine(line string) {
	e.Text = oneLine(line)
	e.Inner = e.Text
	if m := phaseLine.FindStringSubmatch(e.Text); m != nil {
		e.Phase, e.Host = phases[m[1]], m[2]
		e.Inner = strings.TrimPrefix(m[3], "Error: ")
		switch e.Phase {
		case PhaseLock:
			e.Verdict, e.Class, e.Reason = Retry, Busy, ReasonAnotherTransaction
			return
		case PhaseCommit, PhaseBrickOp, PhasePost, PhaseUnlock:
			e.Verdict, e.Class, e.Reason = Unknown, Uncertain, ReasonHalfApplied
			return
		}
	}
	for _, r := range classTable {
		if host, ok := r.match(e); ok {
			e.Verdict, e.Class, e.Reason = r.verdict, r.class, r.reason
			if host != "" {
				e.Host = host
			}
			return
		}
	}
	e.Verdict, e.Class, e.Reason = Unknown, Uncertain, ReasonUnrecognized
	if e.Phase == PhaseStage { // nothing is committed, though we do not know why
		e.Verdict, e.Class = Retry, Transient
	}
}

// badness orders verdicts: what may have been applied outweighs all, what a
// person has to mend outweighs what mends itself.
func badness(v Verdict) int {
	switch v {
	case Done:
		return 1
	case Retry:
		return 2
	case Need:
		return 3
	case Term:
		return 4
	case Unknown:
		return 5
	}
	return 0
}

// match reports whether the row is about e. In a pattern "*" stands for any
// words and "{host}" for the name of a server, which is returned.
func (r row) match(e *Error) (host string, ok bool) {
	if r.errno != 0 && r.errno != e.OpErrno {
		return "", false
	}
	if r.verbs != "" {
		v, found := verb(e.Argv), false
		for one := range strings.SplitSeq(r.verbs, ",") {
			found = found || v == one || v == "volume "+one
		}
		if !found {
			return "", false
		}
	}
	return matchPattern(r.text, e.Inner)
}

func matchPattern(pattern, s string) (host string, ok bool) {
	rest := pattern
	for rest != "" {
		switch {
		case strings.HasPrefix(rest, "{host}"):
			rest = rest[len("{host}"):]
			end := strings.IndexAny(s, " ,:")
			if end < 0 {
				end = len(s)
			}
			if end == 0 {
				return "", false
			}
			host, s = s[:end], s[end:]
		case rest[0] == '*':
			rest = rest[1:]
			if rest == "" {
				return host, true
			}
			next := rest
			if cut := strings.IndexAny(rest, "*{"); cut >= 0 {
				next = rest[:cut]
			}
			at := strings.Index(s, next)
			if next == rest { // the last literal ends the text
				at = len(s) - len(next)
				if at < 0 || s[at:] != next {
					return "", false
				}
			}
			if at < 0 {
				return "", false
			}
			s = s[at:]
		default:
			next := rest
			if cut := strings.IndexAny(rest, "*{"); cut >= 0 {
				next = rest[:cut]
			}
			if !strings.HasPrefix(s, next) {
				return "", false
			}
			s, rest = s[len(next):], rest[len(next):]
		}
	}
	return host, s == ""
}
