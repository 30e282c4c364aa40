package gluster

import "context"

// A PeerState is glusterd's word for what it thinks of another one.
type PeerState string

// The states that matter here, in the words of get-state and peer status. Only
// PeerInCluster, connected, is good; one that stays in another for long, or is
// rejected, needs a repair.
const (
	PeerEstablishing PeerState = "Establishing Connection"        // 0 in the XML
	PeerInCluster    PeerState = "Peer in Cluster"                // 3
	PeerAccepted     PeerState = "Accepted peer request"          // 4
	PeerExchanged    PeerState = "Sent and Received peer request" // 5
	PeerRejected     PeerState = "Peer Rejected"                  // 6
)

// A Peer is a member of the pool as one glusterd sees it.
type Peer struct {
	UUID       string
	Hostname   string    // the primary one; "localhost" in PoolList for the server itself
	OtherNames []string  // further names, without Hostname
	State      PeerState // empty for the server itself
	Connected  bool
}

// Self reports whether p is the asked server's own line of PoolList.
func (p Peer) Self() bool { return p.State == "" && p.Hostname == "localhost" }

// Member reports whether p is connected and in the cluster.
func (p Peer) Member() bool { return p.Connected && p.State == PeerInCluster }

// Names are all names of p, the primary one first.
func (p Peer) Names() []string { return append([]string{p.Hostname}, p.OtherNames...) }

type xmlPeer struct {
	UUID      string   `xml:"uuid"`
	Hostname  string   `xml:"hostname"`
	Hostnames []string `xml:"hostnames>hostname"`
	Connected int      `xml:"connected"`
	StateStr  string   `xml:"stateStr"`
}

func (x xmlPeer) peer() Peer {
	p := Peer{UUID: x.UUID, Hostname: x.Hostname, State: PeerState(x.StateStr), Connected: x.Connected == 1}
	for _, h := range x.Hostnames {
		if h != x.Hostname {
			p.OtherNames = append(p.OtherNames, h)
		}
	}
	return p
}

// PoolList lists all members, the server itself among them.
func (c *Client) PoolList(ctx context.Context) ([]Peer, error) {
	return c.peers(ctx, ArgvPoolList())
}

// PeerStatus lists the members other than the server itself.
func (c *Client) PeerStatus(ctx context.Context) ([]Peer, error) {
	return c.peers(ctx, ArgvPeerStatus())
}

func (c *Client) peers(ctx context.Context, argv []string) ([]Peer, error) {
	d, err := c.read(ctx, argv)
	if err != nil {
		return nil, err
	}
	out := make([]Peer, 0, len(d.Peers))
	for _, p := range d.Peers {
		if p.UUID == "" {
			return nil, incomplete(argv, "peer %q has no UUID", p.Hostname)
		}
		out = append(out, p.peer())
	}
	return out, nil
}

// PeerProbe invites host. Reply.Already means that gluster knows the name, not
// that it is the right server or a member (LAB-14, LAB-15).
func (c *Client) PeerProbe(ctx context.Context, attempt, host string) (Reply, error) {
	return c.Mutate(ctx, attempt, ArgvPeerProbe(host))
}

// UUIDGet returns glusterd's UUID and makes one if it has none.
func (c *Client) UUIDGet(ctx context.Context, attempt string) (string, error) {
	argv := ArgvUUIDGet()
	r, err := c.Mutate(ctx, attempt, argv)
	if err != nil {
		return "", err
	}
	if r.UUID == "" {
		return "", incomplete(argv, "there is no UUID in the answer")
	}
	return r.UUID, nil
}
