package gluster

import (
	"context"
	"strconv"
)

// A RebalanceStatus is the state of a rebalance on one server, or of all.
type RebalanceStatus int

// The statuses; the numbers are those of the XML.
const (
	RebalanceNotStarted RebalanceStatus = 0
	RebalanceRunning    RebalanceStatus = 1
	RebalanceStopped    RebalanceStatus = 2
	RebalanceCompleted  RebalanceStatus = 3
	RebalanceFailed     RebalanceStatus = 4
)

// rebalanceWords are get-state's words.
var rebalanceWords = map[string]RebalanceStatus{
	"not_started": RebalanceNotStarted,
	"started":     RebalanceRunning,
	"stopped":     RebalanceStopped,
	"completed":   RebalanceCompleted,
	"failed":      RebalanceFailed,
}

// String is get-state's word, or the number of a status that is none of ours
// (the layout-fix ones).
func (s RebalanceStatus) String() string {
	for w, v := range rebalanceWords {
		if v == s {
			return w
		}
	}
	return strconv.Itoa(int(s))
}

// A RebalanceNode is how a rebalance goes on one server. The counters restart
// with glusterd: they are no evidence of success (LAB-10).
type RebalanceNode struct {
	PeerUUID string
	Name     string // "localhost" for the asked server
	Status   RebalanceStatus
	Files    uint64 // moved
	Bytes    uint64
	Lookups  uint64
	Failures uint64
	Skipped  uint64
	Seconds  float64
}

// A Rebalance is a rebalance of a volume. Servers without a brick have no
// node; nor have servers that are away (LAB-10).
type Rebalance struct {
	TaskID string
	Nodes  []RebalanceNode
}

type xmlRebalance struct {
	TaskID string    `xml:"task-id"`
	Nodes  []xmlNode `xml:"node"`
}

type xmlNode struct {
	Name     string  `xml:"nodeName"`
	ID       string  `xml:"id"`
	Files    uint64  `xml:"files"`
	Size     uint64  `xml:"size"`
	Lookups  uint64  `xml:"lookups"`
	Failures uint64  `xml:"failures"`
	Skipped  uint64  `xml:"skipped"`
	Status   int     `xml:"status"`
	Runtime  float64 `xml:"runtime"`
}

// RebalanceStart starts a rebalance; Reply.TaskID is gluster's id of it. It
// answers after ten seconds. ReasonSingleSet, Done: there is nothing to move.
// ReasonRebalanceRunning, Done: one runs, which may be somebody else's; after
// it has ended a start makes a new task.
func (c *Client) RebalanceStart(ctx context.Context, attempt, name string) (Reply, error) {
	return c.Mutate(ctx, attempt, ArgvRebalanceStart(name))
}

// RebalanceStatus tells how the last rebalance went, as the servers that are
// connected say. It takes the volume's lock: the idle view has State.
// ReasonNoRebalance: there was none.
func (c *Client) RebalanceStatus(ctx context.Context, name string) (Rebalance, error) {
	argv := ArgvRebalanceStatus(name)
	d, err := c.read(ctx, argv)
	if err != nil {
		return Rebalance{}, err
	}
	r := Rebalance{TaskID: d.Rebalance.TaskID}
	for _, n := range d.Rebalance.Nodes {
		r.Nodes = append(r.Nodes, RebalanceNode{
			PeerUUID: n.ID, Name: n.Name, Status: RebalanceStatus(n.Status), Files: n.Files, Bytes: n.Size,
			Lookups: n.Lookups, Failures: n.Failures, Skipped: n.Skipped, Seconds: n.Runtime,
		})
	}
	if r.TaskID == "" {
		return Rebalance{}, incomplete(argv, "no task id in the answer")
	}
	return r, nil
}
