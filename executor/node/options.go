package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/go-logr/logr"

	"github.com/gluster/anthill/executor/gate"
	"github.com/gluster/anthill/executor/node/probe"
)

// StopTimeoutDefault leaves a margin in Kubernetes' 30 seconds.
const StopTimeoutDefault = 25 * time.Second

// Options of a node. The zero value of each has the stated default.
type Options struct {
	Storage     []gate.Storage // block devices; file systems that Kubernetes mounts are not among them
	StopTimeout time.Duration  // from the signal to the end; default StopTimeoutDefault
	Log         logr.Logger    // default: none

	// Gate says where the gate and glusterd keep their files.
	Gate gate.Options
	// Glusterd is the command; default glusterd in the foreground.
	Glusterd []string
	// Socket is where the liveness probe asks; default probe.Socket.
	Socket string
	// ReadyAddress is where readiness probes ask over HTTP; default probe.ReadyPort
	// on all addresses.
	ReadyAddress string
	// Resolver looks up names as glusterd would; default Go's own.
	Resolver gate.Resolver
	// Signals to obey; default those of the process.
	Signals <-chan os.Signal

	NamesWait  time.Duration // for the own name to resolve before glusterd starts; default 1 min
	MountsWait time.Duration // for devices that do not mount at once; default 10 s
	Every      time.Duration // between looks at what was missing; default 5 s
	BackoffMin time.Duration // before glusterd is started again; default 1 s, doubled up to BackoffMax
	BackoffMax time.Duration // default 30 s
}

// A host that loses power closes no connection. With something under way on it,
// one between glusterds lasts until the frame timeout, 10 minutes
// (gluster/glusterfs issues 2677 and 3443). 42 s without an answer of the other
// kernel, be its glusterd ever so busy, is gluster's own limit for other
// connections; between glusterds of 10.3 it is set to none, as their debug log
// says.
var glusterdArgv = []string{
	"/usr/sbin/glusterd", "-N", "-p", "/run/glusterd.pid",
	"--xlator-option", "management.transport.tcp-user-timeout=42",
}

func (o Options) withDefaults() Options {
	set := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	set(&o.StopTimeout, StopTimeoutDefault)
	set(&o.NamesWait, time.Minute)
	set(&o.MountsWait, 10*time.Second)
	set(&o.Every, 5*time.Second)
	set(&o.BackoffMin, time.Second)
	set(&o.BackoffMax, 30*time.Second)
	if len(o.Glusterd) == 0 {
		o.Glusterd = glusterdArgv
	}
	if o.Socket == "" {
		o.Socket = probe.Socket
	}
	if o.ReadyAddress == "" {
		o.ReadyAddress = fmt.Sprintf(":%d", probe.ReadyPort)
	}
	if o.Gate.GlusterdDir == "" {
		o.Gate.GlusterdDir = gate.GlusterdDir
	}
	if o.Log.GetSink() == nil {
		o.Log = logr.Discard()
	}
	return o
}

var storageName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,14}[a-z0-9])?$`)

// Validate says what is wrong with the options.
func (o Options) Validate() error {
	seen := map[string]bool{}
	for _, s := range o.Storage {
		switch {
		case !storageName.MatchString(s.Name):
			return fmt.Errorf("storage %q: a name has 1 to 16 lower-case letters, digits and '-', and starts and ends with a letter or digit", s.Name)
		case seen[s.Name]:
			return fmt.Errorf("storage %q is given twice", s.Name)
		case !filepath.IsAbs(s.Device) || filepath.Clean(s.Device) != s.Device:
			return fmt.Errorf("storage %q: device %q is not an absolute, clean path", s.Name, s.Device)
		}
		seen[s.Name] = true
	}
	if len(o.Storage) > gate.StorageMax {
		return fmt.Errorf("%d devices are more than %d", len(o.Storage), gate.StorageMax)
	}
	if o.StopTimeout < 0 || o.StopTimeout > 0 && o.StopTimeout < time.Second {
		return errors.New("the stop timeout is at least a second")
	}
	return nil
}

// ParseStorage reads NAME=DEVICE.
func ParseStorage(arg string) (gate.Storage, error) {
	name, device, ok := strings.Cut(arg, "=")
	if !ok {
		return gate.Storage{}, fmt.Errorf("storage %q: NAME=DEVICE is wanted", arg)
	}
	return gate.Storage{Name: name, Device: device}, nil
}
