package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// An EffectFault says what becomes of a command's effect.
type EffectFault string

// The effects of a rule.
const (
	EffectNormal EffectFault = ""      // as without the rule
	EffectNever  EffectFault = "never" // the command is lost on its way, and so is the reply
	EffectHeld   EffectFault = "held"  // it waits, with its lock, until the rule is released
	EffectNone   EffectFault = "none"  // refused with Text
)

// A Rule makes some commands go wrong. It applies to the Nth to Nth+Times-1
// mutating commands that it matches.
type Rule struct {
	Name    string `json:"name"`
	Server  string `json:"server,omitempty"`  // originator; empty: any
	Command string `json:"command,omitempty"` // first words, e.g. "volume add-brick"; empty: any that mutates
	Nth     int    `json:"nth,omitempty"`     // default 1: the first
	Times   int    `json:"times,omitempty"`   // default 1; -1: for ever

	Effect EffectFault   `json:"effect,omitempty"`
	Lost   bool          `json:"lost,omitempty"`  // the reply is lost, whatever happened
	Delay  time.Duration `json:"delay,omitempty"` // before it begins

	// On restricts the commit to these servers; the originator then says that
	// it failed on the others. Nobody at all: ["-"].
	On []string `json:"on,omitempty"`
	// MemoryOnly leaves the disks as they were (LAB-4, LAB-6).
	MemoryOnly bool `json:"memoryOnly,omitempty"`
	// Crash names a server whose glusterd dies right after the commit. If it is
	// the originator its client is told that there is no daemon.
	Crash string `json:"crash,omitempty"`
	// Text is the error the client is told, with Errno (default 30800), after
	// the commit (LAB-2), or instead of it with EffectNone.
	Text  string `json:"text,omitempty"`
	Errno int    `json:"errno,omitempty"`

	Seen     int  `json:"seen,omitempty"`     // commands matched so far
	Applied  int  `json:"applied,omitempty"`  // of them made to go wrong
	Released bool `json:"released,omitempty"` // EffectHeld: see Release
}

func (r *Rule) errno() int {
	if r.Errno == 0 {
		return errInternal
	}
	return r.Errno
}

const rulesMax = 1000

// AddRule adds a rule; the first that applies to a command counts. A rule of
// the same name is replaced.
func (p *Pool) AddRule(r Rule) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch r.Effect {
	case EffectNormal, EffectNever, EffectHeld, EffectNone:
	default:
		return fmt.Errorf("adding rule %q: effect %q is unknown", r.Name, r.Effect)
	}
	if r.Effect == EffectNone && r.Text == "" {
		return fmt.Errorf("adding rule %q: a refusal needs a text", r.Name)
	}
	for _, s := range append(slices.Clone(r.On), r.Server, r.Crash) {
		if s != "" && s != "-" && p.server(s) == nil {
			return fmt.Errorf("adding rule %q: there is no server %q", r.Name, s)
		}
	}
	p.st.Rules = slices.DeleteFunc(p.st.Rules, func(o *Rule) bool { return o.Name == r.Name })
	if len(p.st.Rules) >= rulesMax {
		return fmt.Errorf("adding rule %q: there are %d already", r.Name, rulesMax)
	}
	p.st.Rules = append(p.st.Rules, &r)
	p.changed()
	return nil
}

// Rules lists the rules with their counts.
func (p *Pool) Rules() []Rule {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []Rule
	for _, r := range p.st.Rules {
		out = append(out, *r)
	}
	return out
}

// ClearRules takes all rules away; what they hold goes on.
func (p *Pool) ClearRules() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.st.Rules {
		r.Released = true
	}
	p.st.Rules = nil
	p.resume()
}

// Release lets the commands go on that a rule with EffectHeld holds.
func (p *Pool) Release(name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.st.Rules {
		if r.Name == name {
			r.Released = true
			p.resume()
			return nil
		}
	}
	return fmt.Errorf("releasing rule %q: there is none", name)
}

// match finds the rule that applies to a command, counting it.
func (p *Pool) match(c *call) *Rule {
	if !c.mutates() {
		return nil
	}
	line := strings.Join(c.words, " ")
	for _, r := range p.st.Rules {
		if r.Server != "" && r.Server != c.s.Name || r.Command != "" && line != r.Command && !strings.HasPrefix(line, r.Command+" ") {
			continue
		}
		r.Seen++
		if r.Seen >= max(1, r.Nth) && (r.Times < 0 || r.Applied < max(1, r.Times)) {
			r.Applied++
			return r
		}
	}
	return nil
}
