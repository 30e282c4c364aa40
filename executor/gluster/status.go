package gluster

import (
	"context"
	"strconv"
)

// A BrickStatus is a brick's process as its own glusterd sees it.
type BrickStatus struct {
	Brick
	Online bool // status 1
	Port   int  // 0: none
	PID    int  // 0: none

	// With sizes only (VolumeStatus).
	SizeBytes, FreeBytes uint64
	Device, FSType       string
}

// Healthy reports whether the brick is online with a port and a process. That
// the process is alive is for its server to say (LAB-7).
func (b BrickStatus) Healthy() bool { return b.Online && b.Port > 0 && b.PID > 0 }

// A Service is a daemon of a volume on one server.
type Service struct {
	Name     string // "Self-heal Daemon"
	PeerUUID string
	Online   bool
	PID      int
}

// A Task is a long-running task of a volume.
type Task struct {
	Type   string // "Rebalance", "Remove brick"
	ID     string
	Status RebalanceStatus
}

// A Status is what the daemons of one volume do. Bricks and services of
// servers that are away are missing, not offline (LAB-8).
type Status struct {
	Volume   string
	Bricks   []BrickStatus
	Services []Service
	Tasks    []Task
}

type xmlStatus struct {
	Name  string `xml:"volName"`
	Nodes []struct {
		Hostname string `xml:"hostname"`
		Path     string `xml:"path"`
		PeerID   string `xml:"peerid"`
		Status   int    `xml:"status"`
		Port     string `xml:"port"`
		PID      string `xml:"pid"`
		Size     uint64 `xml:"sizeTotal"`
		Free     uint64 `xml:"sizeFree"`
		Device   string `xml:"device"`
		FSName   string `xml:"fsName"`
	} `xml:"node"`
	Tasks []struct {
		Type   string `xml:"type"`
		ID     string `xml:"id"`
		Status int    `xml:"status"`
	} `xml:"tasks>task"`
}

func (x xmlStatus) status() Status {
	s := Status{Volume: x.Name}
	for _, n := range x.Nodes {
		pid, _ := number(n.PID) // "-1" and "N/A": none
		port, _ := number(n.Port)
		if len(n.Path) == 0 || n.Path[0] != '/' {
			s.Services = append(s.Services, Service{Name: n.Hostname, PeerUUID: n.PeerID, Online: n.Status == 1, PID: pid})
			continue
		}
		s.Bricks = append(s.Bricks, BrickStatus{
			Brick:  Brick{Host: n.Hostname, Path: n.Path, PeerUUID: n.PeerID},
			Online: n.Status == 1, Port: port, PID: pid,
			SizeBytes: n.Size, FreeBytes: n.Free, Device: n.Device, FSType: n.FSName,
		})
	}
	for _, t := range x.Tasks {
		s.Tasks = append(s.Tasks, Task{Type: t.Type, ID: t.ID, Status: RebalanceStatus(t.Status)})
	}
	return s
}

// VolumeStatus tells of the brick processes with sizes, without services and
// tasks. It takes the volume's lock: not for the idle view. name may be
// AllVolumes; volumes that are not started are left out then.
func (c *Client) VolumeStatus(ctx context.Context, name string) ([]Status, error) {
	return c.status(ctx, ArgvVolumeStatus(name))
}

// VolumeServices tells of bricks, self-heal daemons and tasks, without sizes.
// It takes the volume's lock.
func (c *Client) VolumeServices(ctx context.Context, name string) ([]Status, error) {
	return c.status(ctx, ArgvVolumeServices(name))
}

func (c *Client) status(ctx context.Context, argv []string) ([]Status, error) {
	d, err := c.read(ctx, argv)
	if err != nil {
		return nil, err
	}
	out := make([]Status, 0, len(d.Status))
	for _, x := range d.Status {
		out = append(out, x.status())
	}
	return out, nil
}

// number reads a non-negative decimal number.
func number(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0, false
	}
	return n, true
}
