package node

import (
	"context"
	"sync"
	"time"

	"github.com/gluster/anthill/executor/gate"
)

// attachWait is for a gate that changes something here.
const attachWait = 2 * time.Second

// A disks keeps the devices of this node mounted: those that are its own.
type disks struct {
	o Options

	mu   sync.Mutex
	seen map[string]gate.Device // by name, as they were last seen
	said map[string]string      // what was logged of each
	busy map[string]bool        // a mount is under way, perhaps for ever
}

func newDisks(o Options) *disks {
	return &disks{o: o, seen: map[string]gate.Device{}, said: map[string]string{}, busy: map[string]bool{}}
}

// attach mounts what is not mounted, all at the same time, and returns when that
// is done, or after patience: a disk that hangs holds up nobody else.
func (d *disks) attach(ctx context.Context, patience time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	done := make(chan struct{}, len(d.o.Storage))
	n := 0
	for _, s := range d.o.Storage {
		if !d.begin(s.Name) {
			continue
		}
		n++
		go func() {
			dev, err := gate.Attach(ctx, d.o.Gate, s, attachWait)
			d.end(s, dev, err)
			done <- struct{}{}
		}()
	}
	for range n {
		select {
		case <-done:
		case <-ctx.Done():
			return
		}
	}
}

func (d *disks) begin(name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.busy[name] {
		return false
	}
	d.busy[name] = true
	return true
}

// end notes how a device fares; what was said of it already is not said again.
func (d *disks) end(s gate.Storage, dev gate.Device, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.busy[s.Name] = false
	d.seen[s.Name] = dev
	say := "mounted"
	switch {
	case err != nil:
		say = err.Error()
	case dev.Error != "":
		say = dev.Error
	case !dev.Mounted:
		say = "new to this node: the operator decides about it"
	}
	if d.said[s.Name] == say {
		return
	}
	d.said[s.Name] = say
	log := d.o.Log.WithValues("storage", s.Name, "device", s.Device)
	if err != nil || dev.Error != "" {
		log.Error(nil, "device is not mounted", "why", say)
		return
	}
	log.Info("device: "+say, "dir", dev.Dir, "uuid", dev.UUID)
}

// missing are the directories of devices that are not mounted.
func (d *disks) missing() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []string
	for _, s := range d.o.Storage {
		if dev := d.seen[s.Name]; !dev.Mounted {
			out = append(out, gate.Dir(d.o.Gate, s))
		}
	}
	return out
}
