package gluster

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"strings"
)

// A Reply is a clean answer to a mutating command.
type Reply struct {
	Output   string // gluster's words, one line; often empty
	VolumeID string // create, start, stop, delete: gluster's own id of the volume
	TaskID   string // rebalance start
	UUID     string // uuid get
	// Already is set when gluster says that there was nothing to do: probe of a
	// known name or of the server itself. It proves nothing about the peer (LAB-14).
	Already bool
	Reason  Reason // why Already
}

// document is the part of the CLI's XML that this client reads.
type document struct {
	XMLName  xml.Name `xml:"cliOutput"`
	OpRet    *int     `xml:"opRet"`
	OpErrno  int      `xml:"opErrno"`
	OpErrstr string   `xml:"opErrstr"`
	Output   string   `xml:"output"`

	Peers     []xmlPeer    `xml:"peerStatus>peer"`
	UUID      string       `xml:"uuidGenerate>uuid"`
	CreateID  string       `xml:"volCreate>volume>id"`
	StartID   string       `xml:"volStart>volume>id"`
	StopID    string       `xml:"volStop>volume>id"`
	DeleteID  string       `xml:"volDelete>volume>id"`
	Volumes   []xmlVolume  `xml:"volInfo>volumes>volume"`
	Options   []xmlOption  `xml:"volGetopts>Opt"`
	Status    []xmlStatus  `xml:"volStatus>volumes>volume"`
	Rebalance xmlRebalance `xml:"volRebalance"`
	Heal      []xmlHeal    `xml:"healInfo>bricks>brick"`
}

func (d *document) reply() Reply {
	r := Reply{Output: oneLine(d.Output), TaskID: d.Rebalance.TaskID, UUID: d.UUID}
	for _, id := range []string{d.CreateID, d.StartID, d.StopID, d.DeleteID} {
		if id != "" {
			r.VolumeID = id
		}
	}
	return r
}

// textBytesMax bounds what an error carries of gluster's words.
const textBytesMax = 2000

// parse reads one answer of the command line. A nil error is a clean answer.
func parse(c Command, out Output) (*document, error) {
	e := &Error{Argv: c.Argv, Exit: out.Exit, TimedOut: out.TimedOut}
	d := &document{}
	xmlErr := xml.Unmarshal(bytes.TrimSpace(out.Stdout), d)
	switch {
	case out.TimedOut:
		e.Text = "killed at its deadline"
		return nil, e.lost(c, ReasonTimedOut)
	case out.Truncated:
		e.Text = "the output is too large"
		return nil, e.lost(c, ReasonCutOutput)
	case xmlErr == nil && d.OpRet != nil:
		e.OpRet, e.OpErrno = *d.OpRet, d.OpErrno
		e.Text = firstText(d.OpErrstr, d.Output, string(out.Stderr))
		if out.Exit == 0 && e.OpRet == 0 && e.OpErrno == 0 {
			return d, nil
		}
		e.classify(c.Mutates)
		if e.Exit == 0 && e.OpRet == 0 && e.Verdict == Done {
			return d, e // the caller may take it as clean: nothing was to be done
		}
		return nil, e
	default:
		e.OpRet = -1
		e.Text = firstText(string(out.Stdout), string(out.Stderr))
		e.classifyPlain(c.Mutates)
		return nil, e
	}
}

// sendError is the error of a runner.
func sendError(c Command, err error) error {
	e := &Error{Argv: c.Argv, OpRet: -1, Phase: PhaseSend, Err: err}
	switch {
	case errors.Is(err, ErrFenced):
		e.Verdict, e.Class, e.Reason = Term, Fenced, ReasonServerFenced
	case errors.Is(err, ErrServerBusy):
		e.Verdict, e.Class, e.Reason = Retry, Busy, ReasonServerBusy
	case IsNotStarted(err):
		e.Verdict, e.Class, e.Reason = Retry, Transient, ReasonServerUnreachable
	default:
		return e.lost(c, ReasonReplyLost)
	}
	return e
}

// lost makes e the error of an answer that was not seen.
func (e *Error) lost(c Command, r Reason) *Error {
	e.OpRet, e.Phase, e.Reason = -1, PhaseSend, r
	e.Verdict, e.Class = Retry, Transient
	if c.Mutates {
		e.Verdict, e.Class = Unknown, Uncertain
	}
	return e
}

func firstText(texts ...string) string {
	for _, t := range texts {
		if t = strings.TrimSpace(t); t != "" {
			if len(t) > textBytesMax {
				t = strings.ToValidUTF8(t[:textBytesMax], "") + " ..."
			}
			return t
		}
	}
	return ""
}

// oneLine joins the lines of s.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// incomplete is the error of an answer that lacks what it must hold.
func incomplete(argv []string, format string, args ...any) error {
	return &Error{
		Argv: argv, Phase: PhaseSend, Verdict: Retry, Class: Transient, Reason: ReasonBadOutput,
		Text: fmt.Sprintf(format, args...),
	}
}
