package gluster

import (
	"context"
	"strings"
)

// A VolumeStatus is what a volume is meant to be doing.
type VolumeStatus string

// The statuses.
const (
	VolumeCreated VolumeStatus = "Created" // never started
	VolumeStarted VolumeStatus = "Started"
	VolumeStopped VolumeStatus = "Stopped"
)

// A Volume is a volume as one glusterd knows it.
type Volume struct {
	Name       string
	ID         string // gluster's own UUID
	Status     VolumeStatus
	Type       string // "Replicate", "Distributed-Replicate", "Disperse" ...
	Sets       int    // subvolumes of the distribution
	Replica    int    // bricks of a set; 1 for distribute and disperse
	Arbiter    int    // of them without data
	Disperse   int    // bricks of a set; 0 unless disperse
	Redundancy int    // of them that may be missing
	Snapshots  int
	Bricks     []Brick           // in gluster's order: sets are runs of SetSize
	Options    map[string]string // the ones that were set, not the defaults
}

// SetSize is the number of bricks of one set.
func (v Volume) SetSize() int { return max(1, v.Replica, v.Disperse) }

type xmlVolume struct {
	Name       string `xml:"name"`
	ID         string `xml:"id"`
	StatusStr  string `xml:"statusStr"`
	Snapshots  int    `xml:"snapshotCount"`
	BrickCount int    `xml:"brickCount"`
	Dist       int    `xml:"distCount"`
	Replica    int    `xml:"replicaCount"`
	Arbiter    int    `xml:"arbiterCount"`
	Disperse   int    `xml:"disperseCount"`
	Redundancy int    `xml:"redundancyCount"`
	TypeStr    string `xml:"typeStr"`
	Bricks     []struct {
		Name     string `xml:"name"`
		HostUUID string `xml:"hostUuid"`
		Arbiter  int    `xml:"isArbiter"`
	} `xml:"bricks>brick"`
	Options []struct {
		Name  string `xml:"name"`
		Value string `xml:"value"`
	} `xml:"options>option"`
}

func (x xmlVolume) volume() (Volume, string) {
	v := Volume{
		Name: x.Name, ID: x.ID, Status: VolumeStatus(x.StatusStr), Type: x.TypeStr, Sets: x.Dist,
		Replica: x.Replica, Arbiter: x.Arbiter, Disperse: x.Disperse, Redundancy: x.Redundancy,
		Snapshots: x.Snapshots, Options: make(map[string]string, len(x.Options)),
	}
	if x.Name == "" || x.ID == "" {
		return v, "a volume without name or id"
	}
	if len(x.Bricks) != x.BrickCount {
		return v, "volume " + x.Name + " has another number of bricks than it says"
	}
	for _, xb := range x.Bricks {
		b, err := ParseBrick(xb.Name)
		if err != nil {
			return v, err.Error()
		}
		b.PeerUUID, b.Arbiter = xb.HostUUID, xb.Arbiter == 1
		v.Bricks = append(v.Bricks, b)
	}
	for _, o := range x.Options {
		v.Options[o.Name] = o.Value
	}
	return v, ""
}

// VolumeInfo describes one volume, or all if name is empty. It takes no lock. A
// volume that does not exist is an error with ReasonNoVolume.
func (c *Client) VolumeInfo(ctx context.Context, name string) ([]Volume, error) {
	argv := ArgvVolumeInfo(name)
	d, err := c.read(ctx, argv)
	if err != nil {
		return nil, err
	}
	out := make([]Volume, 0, len(d.Volumes))
	for _, x := range d.Volumes {
		v, bad := x.volume()
		if bad != "" {
			return nil, incomplete(argv, "%s", bad)
		}
		out = append(out, v)
	}
	return out, nil
}

// VolumeCreate makes a volume of existing brick parents, without force.
func (c *Client) VolumeCreate(ctx context.Context, attempt string, s CreateSpec) (Reply, error) {
	if err := s.Validate(); err != nil {
		return Reply{}, &Error{
			Argv: ArgvVolumeCreate(s), OpRet: -1, Verdict: Term, Class: Permanent, Reason: ReasonBadBrickCount, Err: err,
		}
	}
	return c.Mutate(ctx, attempt, ArgvVolumeCreate(s))
}

// VolumeStart starts a volume; with force also the missing bricks of a started
// one. Success does not mean that a brick runs (F13).
func (c *Client) VolumeStart(ctx context.Context, attempt, name string, force bool) (Reply, error) {
	return c.Mutate(ctx, attempt, ArgvVolumeStart(name, force))
}

// VolumeStop stops a volume: its clients lose it.
func (c *Client) VolumeStop(ctx context.Context, attempt, name string) (Reply, error) {
	return c.Mutate(ctx, attempt, ArgvVolumeStop(name))
}

// VolumeDelete forgets a stopped volume; refused while any member is down (F12).
func (c *Client) VolumeDelete(ctx context.Context, attempt, name string) (Reply, error) {
	return c.Mutate(ctx, attempt, ArgvVolumeDelete(name))
}

// VolumeSet sets one option of a volume.
func (c *Client) VolumeSet(ctx context.Context, attempt, name, key, value string) (Reply, error) {
	return c.Mutate(ctx, attempt, ArgvVolumeSet(name, key, value))
}

// VolumeReset puts one option of a volume back to its default.
func (c *Client) VolumeReset(ctx context.Context, attempt, name, key string) (Reply, error) {
	return c.Mutate(ctx, attempt, ArgvVolumeReset(name, key))
}

// ClusterSet sets one cluster-wide option.
func (c *Client) ClusterSet(ctx context.Context, attempt, key, value string) (Reply, error) {
	return c.Mutate(ctx, attempt, ArgvClusterSet(key, value))
}

// ClusterReset puts one cluster-wide option back to its default.
func (c *Client) ClusterReset(ctx context.Context, attempt, key string) (Reply, error) {
	return c.Mutate(ctx, attempt, ArgvClusterReset(key))
}

// Barrier waits for the lock of the volume: once it succeeds, every earlier
// command of this originator that needed the same lock is over.
func (c *Client) Barrier(ctx context.Context, attempt, name string) (Reply, error) {
	return c.Mutate(ctx, attempt, ArgvBarrier(name, attempt))
}

// AddBrick adds whole sets to a volume.
func (c *Client) AddBrick(ctx context.Context, attempt, name string, bricks []Brick) (Reply, error) {
	return c.Mutate(ctx, attempt, ArgvAddBrick(name, bricks))
}

// A Setting is the value an option has, set or by default.
type Setting struct {
	Value   string
	Default bool
}

type xmlOption struct {
	Option string `xml:"Option"`
	Value  string `xml:"Value"`
}

// VolumeGetAll lists all options of a volume, or the cluster-wide ones of
// AllVolumes.
func (c *Client) VolumeGetAll(ctx context.Context, name string) (map[string]Setting, error) {
	d, err := c.read(ctx, ArgvVolumeGet(name))
	if err != nil {
		return nil, err
	}
	out := make(map[string]Setting, len(d.Options))
	for _, o := range d.Options {
		v, def := strings.CutSuffix(o.Value, " (DEFAULT)")
		out[o.Option] = Setting{Value: v, Default: def}
	}
	return out, nil
}

// OpVersion returns the cluster's operating version and the highest one it
// could have.
func (c *Client) OpVersion(ctx context.Context) (now, highest int, err error) {
	all, err := c.VolumeGetAll(ctx, AllVolumes)
	if err != nil {
		return 0, 0, err
	}
	now, ok1 := number(all["cluster.op-version"].Value)
	highest, ok2 := number(all["cluster.max-op-version"].Value)
	if !ok1 || !ok2 {
		return 0, 0, incomplete(ArgvVolumeGet(AllVolumes), "no op-version in the answer")
	}
	return now, highest, nil
}
