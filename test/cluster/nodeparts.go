package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gluster/anthill/test/await"
	"github.com/gluster/anthill/test/local"
	"github.com/gluster/anthill/test/program"
)

// Deadlines of a part of a node.
const (
	partStartMax = 60 * time.Second
	partEndMax   = 30 * time.Second
)

// A part is a process of a node outside of containers.
type part struct {
	name string
	argv []string
	// ready fails until the part serves; nil when something else tells.
	ready func(context.Context) error
}

// parts lists the parts of the node in the order of starting.
func (n *Node) parts() []part {
	kube := func(name string) string { return inside(program.Kube(n.env.cfg.Checkout, name), name) }
	return []part{
		{
			name: containerdName, argv: []string{inside(program.Containerd, containerdName), "--config", containerdConfigFile},
			ready: func(ctx context.Context) error { _, err := n.ctr(ctx, "version"); return err },
		},
		{
			name: kubeletName,
			argv: []string{
				kube(kubeletName), "--config=" + kubeletConfigFile, "--kubeconfig=" + kubeconfigOf(kubeletName),
				"--hostname-override=" + n.Name(), "--node-ip=" + n.IP(), "--node-labels=" + zoneLabel + "=" + n.Zone(),
			},
		},
		{
			name: proxyName,
			argv: []string{kube(proxyName), "--config=" + proxyConfigFile, "--hostname-override=" + n.Name()},
			ready: func(ctx context.Context) error {
				return get(ctx, http.DefaultClient, "http://"+net.JoinHostPort(n.IP(), "10256")+"/livez")
			},
		},
	}
}

// startParts starts what does not run of the node and waits until it serves.
// Images come between containerd and the kubelet, which looks for some.
func (n *Node) startParts(ctx context.Context) error {
	for _, p := range n.parts() {
		if err := n.startPart(ctx, p); err != nil {
			return fmt.Errorf("starting %s on %s: %w", p.name, n.Name(), err)
		}
		if p.name == containerdName {
			if err := n.load(ctx, n.env.images()...); err != nil {
				return err
			}
		}
	}
	return nil
}

func (n *Node) startPart(ctx context.Context, p part) error {
	running, err := n.running(p.name)
	if err != nil {
		return err
	}
	if !running {
		if err := n.spawn(ctx, p); err != nil {
			return err
		}
	}
	return await.Until(ctx, partStartMax, p.name+" on "+n.Name()+" serves", n.logFile(p.name), func(ctx context.Context) error {
		if running, err := n.running(p.name); err != nil || !running {
			return errors.Join(err, fmt.Errorf("%s is not running", p.name))
		}
		if p.ready == nil {
			return nil
		}
		return p.ready(ctx)
	})
}

// spawn starts a part as a child of the node's pid 1, with its log.
func (n *Node) spawn(ctx context.Context, p part) error {
	ctx, cancel := context.WithTimeoutCause(ctx, partStartMax, fmt.Errorf("not within %v", partStartMax))
	defer cancel()
	log, err := os.OpenFile(n.logFile(p.name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	// The parent of what setsid leaves ends, and so pid 1 becomes it.
	cmd := n.guest.Command(ctx, append([]string{"setsid", "--fork"}, p.argv...)...)
	cmd.Env = n.environment()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Run(); err != nil {
		return errors.Join(err, context.Cause(ctx))
	}
	return nil
}

// environment is that of the node's parts: containerd looks for its shim, and
// for runc, where commands are.
func (n *Node) environment() []string {
	path := []string{inside(program.Containerd, ""), inside(program.Runc, ""), "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}
	return []string{"PATH=" + strings.Join(path, ":"), "HOME=/root", "LC_ALL=C"}
}

// isPart picks the processes of a part: by what they run, among the node's.
func (n *Node) isPart(name string) func(local.Process) bool {
	binaries := []string{}
	for _, p := range n.parts() {
		if p.name == name {
			binaries = append(binaries, p.argv[0])
		}
	}
	return func(p local.Process) bool { return len(p.Argv) > 0 && slices.Contains(binaries, p.Argv[0]) }
}

// running tells whether a part of the node runs.
func (n *Node) running(name string) (bool, error) {
	all, err := n.guest.Processes()
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(all, n.isPart(name)), nil
}

// kill ends a part of the node with SIGKILL.
func (n *Node) kill(ctx context.Context, name string) error {
	if _, err := n.guest.Signal(unix.SIGKILL, n.isPart(name)); err != nil {
		return err
	}
	return await.Until(ctx, partEndMax, name+" on "+n.Name()+" ends", "", func(context.Context) error {
		running, err := n.running(name)
		if err == nil && running {
			err = fmt.Errorf("%s runs", name)
		}
		return err
	})
}

// ctr runs the client of the node's containerd, in Kubernetes' namespace.
func (n *Node) ctr(ctx context.Context, args ...string) ([]byte, error) {
	return n.guest.Exec(ctx, append([]string{inside(program.Containerd, "ctr"), "--namespace", "k8s.io"}, args...)...)
}

// kubeconfigOf is where a node has the kubeconfig of one of its parts.
func kubeconfigOf(part string) string { return filepath.Join(configDir, part+".kubeconfig") }
