package placement

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A NotEnoughServersError says that a set has more bricks than there are nodes
// for it.
type NotEnoughServersError struct {
	Need     int      // nodes a set needs
	Nodes    []string // usable nodes, sorted
	Zones    []string // the volume is restricted to, sorted; empty: none
	Excluded []Exclusion
}

func (e *NotEnoughServersError) Error() string {
	var b strings.Builder
	where := ""
	if len(e.Zones) > 0 {
		where = " in zones " + strings.Join(e.Zones, ", ")
	}
	fmt.Fprintf(&b, "a set needs %s%s, each with a usable brick directory; there ", servers(e.Need), where)
	switch len(e.Nodes) {
	case 0:
		b.WriteString("is none")
	case 1:
		b.WriteString("is 1 (" + e.Nodes[0] + ")")
	default:
		fmt.Fprintf(&b, "are %d (%s)", len(e.Nodes), listed(e.Nodes))
	}
	fmt.Fprintf(&b, ": %d more needed", e.Missing())
	if len(e.Excluded) > 0 {
		why := make([]string, len(e.Excluded))
		for i, x := range e.Excluded {
			why[i] = x.Node + ": " + x.Why
		}
		b.WriteString("; not usable are " + listed(why))
	}
	return b.String()
}

// Missing is how many more nodes are needed.
func (e *NotEnoughServersError) Missing() int { return e.Need - len(e.Nodes) }

// IsNotEnoughServers reports whether err is, or wraps, a NotEnoughServersError.
func IsNotEnoughServers(err error) bool {
	var n *NotEnoughServersError
	return errors.As(err, &n)
}

func notEnough(r Request, p *pool) error {
	e := &NotEnoughServersError{Need: r.SetSize, Zones: slices.Sorted(slices.Values(r.Zones)), Excluded: slices.Clone(r.Excluded)}
	for i := range p.nodes {
		e.Nodes = append(e.Nodes, p.nodes[i].name)
	}
	slices.SortFunc(e.Excluded, func(a, b Exclusion) int { return strings.Compare(a.Node, b.Node) })
	return e
}

func servers(n int) string {
	if n == 1 {
		return "1 server"
	}
	return fmt.Sprintf("%d servers", n)
}

// listedMax bounds what a message names.
const listedMax = 8

func listed(names []string) string {
	if len(names) <= listedMax {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:listedMax], ", "), len(names)-listedMax)
}
