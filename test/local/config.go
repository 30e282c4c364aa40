package local

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Limits of a Config.
const (
	ServersMax     = 99
	BricksMax      = 8
	BrickSizeMiB   = 400 // the default; mkfs.xfs refuses less than 300
	brickSizeLeast = 300
)

// baseDir holds one folder per environment. Its mode is 0700: the folders
// contain private keys.
const baseDir = "/var/lib/anthill-local"

// modulePath is how a checkout is recognised.
const modulePath = "github.com/gluster/anthill"

// A Config says which environment is meant and what should run in it.
type Config struct {
	// Checkout is the root of the source tree; found from the working
	// directory when empty. Together with Instance it names the environment.
	Checkout string
	// Instance tells environments of one checkout apart: lower-case letters,
	// digits and dashes, at most 20. May be empty.
	Instance string

	Servers  int // number of servers, 0 to ServersMax
	Bricks   int // brick file systems per server, default 2, at most BricksMax
	BrickMiB int // size of each, sparse; default BrickSizeMiB

	APIServer bool // run etcd and kube-apiserver
	Audit     bool // let kube-apiserver log what is written, see APIServer.Writes
	Kubelets  bool // let kube-apiserver serve nodes, which package cluster adds
	Kubectl   bool // build kubectl too (25 s, once)

	// Fresh takes down what exists first. Without it Up keeps what runs, and
	// brings back what is killed, paused or cut off.
	Fresh bool
	// KeepFailed leaves a half-failed Up as it is, to be looked at.
	KeepFailed bool

	// Then is for packages that build on this one: it runs under the
	// environment's lock once the above serves, and before the environment counts
	// as up. What it starts through the environment is taken down with it.
	Then func(context.Context, *Env) error

	// Log gets one line per thing done or waited for. Must be safe for
	// concurrent use; nil discards.
	Log func(line string)
}

// errNoCheckout is returned when no folder upwards is a checkout.
var errNoCheckout = errors.New("not inside a checkout of " + modulePath)

var instancePattern = regexp.MustCompile(`^[a-z0-9]?[a-z0-9-]{0,19}$`)

// withDefaults returns c complete and checked.
func (c Config) withDefaults() (Config, error) {
	if c.Checkout == "" {
		wd, err := os.Getwd()
		if err != nil {
			return c, fmt.Errorf("finding the checkout: %w", err)
		}
		if c.Checkout, err = findCheckout(wd); err != nil {
			return c, fmt.Errorf("finding the checkout from %q: %w", wd, err)
		}
	}
	resolved, err := filepath.EvalSymlinks(c.Checkout)
	if err != nil {
		return c, fmt.Errorf("resolving the checkout: %w", err)
	}
	c.Checkout = resolved
	if c.Bricks == 0 {
		c.Bricks = 2
	}
	if c.BrickMiB == 0 {
		c.BrickMiB = BrickSizeMiB
	}
	if c.Log == nil {
		c.Log = func(string) {}
	}
	switch {
	case !instancePattern.MatchString(c.Instance):
		return c, fmt.Errorf("instance %q: want at most 20 lower-case letters, digits and dashes", c.Instance)
	case c.Servers < 0 || c.Servers > ServersMax:
		return c, fmt.Errorf("%d servers: want 0 to %d", c.Servers, ServersMax)
	case c.Bricks < 0 || c.Bricks > BricksMax:
		return c, fmt.Errorf("%d bricks per server: want 1 to %d", c.Bricks, BricksMax)
	case c.BrickMiB < brickSizeLeast:
		return c, fmt.Errorf("bricks of %d MiB: want at least %d", c.BrickMiB, brickSizeLeast)
	}
	return c, nil
}

// Root is the checkout that is meant, found from the working directory when c
// names none.
func (c Config) Root() (string, error) {
	c, err := c.withDefaults()
	return c.Checkout, err
}

// Hostname is the start of the host names of the environment's machines of a
// kind: s, c, or what a guest's key starts with. It is there before the
// environment is.
func (c Config) Hostname(kind string) (string, error) {
	c, err := c.withDefaults()
	if err != nil {
		return "", err
	}
	return network{id: c.id()}.bridge() + "-" + kind, nil
}

// id names the environment on this machine: six hex digits, so that a link's
// name (15 characters at most) has room for a server's.
func (c Config) id() string {
	sum := sha256.Sum256([]byte(c.Checkout + "\x00" + c.Instance))
	return hex.EncodeToString(sum[:3])
}

// findCheckout returns the closest folder upwards of dir whose go.mod is the
// product's.
func findCheckout(dir string) (string, error) {
	for {
		switch name, err := moduleName(filepath.Join(dir, "go.mod")); {
		case err == nil && name == modulePath:
			return dir, nil
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return "", err
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errNoCheckout
		}
		dir = up
	}
}

func moduleName(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if name, ok := strings.CutPrefix(s.Text(), "module "); ok {
			return strings.TrimSpace(name), nil
		}
	}
	return "", nil
}
