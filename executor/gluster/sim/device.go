package sim

import (
	"fmt"
	"path"
	"slices"

	"github.com/gluster/anthill/executor/gate"
)

// A Device is a block device of a server that is a pod.
type Device struct {
	Name      string `json:"name"`
	SizeBytes uint64 `json:"sizeBytes,omitempty"` // default Options.RootBytes
	Holds     string `json:"holds,omitempty"`     // empty: nothing at all
	UUID      string `json:"uuid,omitempty"`
	Label     string `json:"label,omitempty"`
	// Unfinished: mkfs.xfs was killed on it.
	Unfinished bool `json:"unfinished,omitempty"`
	// Error: it cannot be looked at.
	Error string `json:"error,omitempty"`
}

const (
	bricksDir   = "/bricks"
	deviceLabel = "anthill"
	xfsBytesMin = 300 << 20
)

// deviceRecord is what a pod remembers of a device.
type deviceRecord struct {
	UUID string
	Made bool
}

func (d *Device) dir() string { return path.Join(bricksDir, d.Name) }

func (d *Device) finished(uuid string) bool {
	return d.Holds == "xfs" && d.UUID == uuid && !d.Unfinished
}

// SetDevice puts another device, with what is on it, in the place of one of the
// same name, or adds one. The pod sees one that is new when it is started again,
// in reality; here it does at once.
func (p *Pool) SetDevice(name string, d Device) error {
	var err error
	if e := p.on(name, "setting a device", func(s *server) {
		if !s.Pod {
			err = fmt.Errorf("setting a device of %s: it is no pod", name)
			return
		}
		s.setDevice(d, p.opts.RootBytes)
	}); e != nil {
		return e
	}
	return err
}

func (s *server) setDevice(d Device, size uint64) {
	if d.SizeBytes == 0 {
		d.SizeBytes = size
	}
	s.erase(&d)
	for i, old := range s.Devices {
		if old.Name == d.Name {
			s.Devices[i] = &d
			return
		}
	}
	s.Devices = append(s.Devices, &d)
}

// erase takes away what the file system of a device held.
func (s *server) erase(d *Device) {
	delete(s.FS.Roots, d.dir())
	for at := range s.FS.Dirs {
		if within(at, d.dir()) {
			delete(s.FS.Dirs, at)
		}
	}
}

// RestartPod ends everything on a server that is a pod and starts it anew, as a
// pod that Kubernetes replaces: its devices are mounted again if they are the
// ones its gate has on record, and nothing else is.
func (p *Pool) RestartPod(name string) error {
	return p.on(name, "restarting the pod", func(s *server) {
		p.powerOff(s)
		p.powerOn(s)
	})
}

// detach unmounts all devices: mounts end with the container.
func (s *server) detach() {
	for _, d := range s.Devices {
		if s.mounted(d) {
			_ = s.mount(d.dir(), false)
		}
	}
}

// attach mounts what is this pod's own, as its first process does.
func (s *server) attach() {
	for _, d := range s.Devices {
		if r, ok := s.Gate.Devices[d.Name]; ok && r.Made && d.Error == "" && d.finished(r.UUID) {
			s.mountDevice(d)
		}
	}
}

func (s *server) mounted(d *Device) bool {
	r := s.FS.Roots[d.dir()]
	return r != nil && r.Mounted && r.FSUUID == d.UUID
}

func (s *server) mountDevice(d *Device) {
	if s.FS.Roots[d.dir()] == nil {
		s.FS.Roots[d.dir()] = &root{FSUUID: d.UUID, Size: d.SizeBytes, Free: d.SizeBytes * 9 / 10, Mounted: true}
		return
	}
	_ = s.mount(d.dir(), true)
}

// device is a device as the gate tells it.
func (c *gateCall) device(d *Device) gate.Device {
	r, recorded := c.g.Devices[d.Name]
	out := gate.Device{
		Name: d.Name, Path: "/dev/anthill/" + d.Name, SizeBytes: d.SizeBytes, Dir: d.dir(), Recorded: r.UUID,
	}
	if d.Error != "" {
		out.Error = d.Error
		return out
	}
	out.Holds, out.UUID, out.Label, out.Unfinished, out.Mounted = d.Holds, d.UUID, d.Label, d.Unfinished, c.s.mounted(d)
	switch {
	case !recorded || !r.Made:
	case d.Holds == "":
		out.Error = fmt.Sprintf("%s holds nothing, and was the file system %s: it is another device, or was erased", out.Path, r.UUID)
	case d.Holds == "xfs" && d.UUID != r.UUID:
		out.Error = fmt.Sprintf("%s is the file system %s, and was %s: it is another device, or was formatted by somebody else", out.Path, d.UUID, r.UUID)
	}
	return out
}

func (c *gateCall) devices() []gate.Device {
	var out []gate.Device
	for _, d := range c.s.Devices {
		out = append(out, c.device(d))
	}
	return out
}

// storage finds the device the request is about.
func (c *gateCall) storage() (*Device, error) {
	if c.req.Device == nil || c.req.Device.Name == "" || c.req.Device.UUID == "" {
		return nil, refusef(gate.ExitUsage, gate.ReasonUsage, "%s needs the name of a device and the UUID of its file system", c.req.Verb)
	}
	if !c.s.Pod {
		return nil, refusef(gate.ExitFailed, gate.ReasonNotPod, "this server is not a pod: nothing is formatted or mounted here")
	}
	i := slices.IndexFunc(c.s.Devices, func(d *Device) bool { return d.Name == c.req.Device.Name })
	if i < 0 {
		return nil, refusef(gate.ExitFailed, gate.ReasonDevice, "this pod was not started with a device %q", c.req.Device.Name)
	}
	return c.s.Devices[i], nil
}

func deviceRefusal(d gate.Device, format string, args ...any) error {
	r := refusef(gate.ExitFailed, gate.ReasonDevice, format, args...)
	r.Device = &d
	return r
}

func (c *gateCall) recordDevice(d *Device, uuid string, made bool) {
	if c.g.Devices == nil {
		c.g.Devices = map[string]deviceRecord{}
	}
	c.g.Devices[d.Name] = deviceRecord{UUID: uuid, Made: made}
}

// format answers FormatDevice.
func (c *gateCall) format() (gate.Reply, error) {
	d, err := c.storage()
	if err != nil {
		return gate.Reply{}, err
	}
	uuid, now := c.req.Device.UUID, c.device(d)
	r, recorded := c.g.Devices[d.Name]
	begun := d.Unfinished && (d.UUID == uuid || recorded && !r.Made && d.UUID == r.UUID)
	switch {
	case now.Error != "":
		return gate.Reply{}, deviceRefusal(now, "%s", now.Error)
	case d.finished(uuid) && d.Label == deviceLabel:
		c.recordDevice(d, uuid, true)
		now = c.device(d)
		return gate.Reply{Device: &now}, nil
	case d.Holds != "" && !begun:
		return gate.Reply{}, deviceRefusal(now, "%s holds %s %s", now.Path, d.Holds, d.UUID)
	case d.SizeBytes < xfsBytesMin:
		return gate.Reply{}, deviceRefusal(now, "%s has %d MiB, XFS wants %d", now.Path, d.SizeBytes>>20, xfsBytesMin>>20)
	}
	c.s.erase(d)
	d.Holds, d.UUID, d.Label, d.Unfinished = "xfs", uuid, deviceLabel, false
	c.recordDevice(d, uuid, true)
	c.log(d.Name)
	now = c.device(d)
	return gate.Reply{Device: &now}, nil
}

// mountVerb answers MountDevice.
func (c *gateCall) mountVerb() (gate.Reply, error) {
	d, err := c.storage()
	if err != nil {
		return gate.Reply{}, err
	}
	uuid, now := c.req.Device.UUID, c.device(d)
	_, recorded := c.g.Devices[d.Name]
	switch {
	case now.Error != "":
		return gate.Reply{}, deviceRefusal(now, "%s", now.Error)
	case !d.finished(uuid):
		return gate.Reply{}, deviceRefusal(now, "%s is to be the file system %s and holds %s %s", now.Path, uuid, d.Holds, d.UUID)
	case !recorded && d.Label != deviceLabel:
		return gate.Reply{}, deviceRefusal(now, "%s has the label %q, not %q", now.Path, d.Label, deviceLabel)
	}
	c.recordDevice(d, uuid, true)
	if !c.s.mounted(d) {
		c.s.mountDevice(d)
		c.log(d.dir())
	}
	now = c.device(d)
	return gate.Reply{Device: &now}, nil
}
