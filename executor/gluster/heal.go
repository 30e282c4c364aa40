package gluster

import (
	"context"
	"strconv"
)

// A HealBrick is what one brick says about what is to be healed on others.
type HealBrick struct {
	Brick
	Status string // "Connected", or why not
	// Counted is set when every number was there. A missing number is not zero
	// (F2): the numbers below mean nothing without it.
	Counted                             bool
	Total, Pending, SplitBrain, Healing uint64
}

// Clean reports whether the brick is connected and counts nothing to heal.
// Right after a change that proves nothing yet (LAB-11).
func (b HealBrick) Clean() bool {
	return b.Status == "Connected" && b.Counted && b.Total == 0 && b.Pending == 0 && b.SplitBrain == 0
}

type xmlHeal struct {
	HostUUID   string  `xml:"hostUuid,attr"`
	Name       string  `xml:"name"`
	Status     string  `xml:"status"`
	Total      *string `xml:"totalNumberOfEntries"`
	Pending    *string `xml:"numberOfEntriesInHealPending"`
	SplitBrain *string `xml:"numberOfEntriesInSplitBrain"`
	Healing    *string `xml:"numberOfEntriesPossiblyHealing"`
}

// HealInfoSummary counts what is to be healed, brick by brick. It takes no
// lock. A distributed volume has nothing to heal: ReasonNotReplicated, Done.
func (c *Client) HealInfoSummary(ctx context.Context, name string) ([]HealBrick, error) {
	argv := ArgvHealInfoSummary(name)
	d, err := c.do(ctx, Command{Argv: argv, Deadline: c.deadline.heal})
	if err != nil {
		return nil, err
	}
	out := make([]HealBrick, 0, len(d.Heal))
	for _, x := range d.Heal {
		h := HealBrick{Status: oneLine(x.Status), Counted: true}
		if b, err := ParseBrick(x.Name); err == nil {
			h.Brick = b
		} else {
			h.Brick.Host, h.Counted = x.Name, false // "information not available"
		}
		if x.HostUUID != "-" {
			h.PeerUUID = x.HostUUID
		}
		for _, n := range []struct {
			from *string
			to   *uint64
		}{{x.Total, &h.Total}, {x.Pending, &h.Pending}, {x.SplitBrain, &h.SplitBrain}, {x.Healing, &h.Healing}} {
			if n.from == nil {
				h.Counted = false
				continue
			}
			v, err := strconv.ParseUint(*n.from, 10, 64)
			if err != nil {
				h.Counted = false
			}
			*n.to = v
		}
		out = append(out, h)
	}
	if len(out) == 0 {
		return nil, incomplete(argv, "no brick in the answer")
	}
	return out, nil
}
