package cluster

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/test/await"
	"github.com/gluster/anthill/test/local"
	"github.com/gluster/anthill/test/program"
)

// Deadlines of what a node is waited for.
const (
	nodeReadyMax    = 3 * time.Minute
	nodeSettledMax  = 60 * time.Second // after which a kubelet is started again
	nodeNotReadyMax = 90 * time.Second
)

// A Node is a machine with containerd, kubelet and kube-proxy. All methods are
// safe for concurrent use as far as the order of what they do matters to nobody.
type Node struct {
	env    *Env
	number int
	spec   local.GuestSpec // without mounts, which need what may not be there yet
	guest  *local.Guest
}

// node returns node n, counted from 1, which need not exist yet.
func (e *Env) node(n int) *Node {
	routes := []string{"route add default via " + e.local.HostIP()}
	for other := 1; other <= NodesMax; other++ {
		if other != n {
			routes = append(routes, fmt.Sprintf("route add %s via %s", podsOf(e.pods, other), e.nodeIP(other)))
		}
	}
	spec := local.GuestSpec{Key: "n" + strconv.Itoa(n), Number: n, Routes: routes}
	return &Node{env: e, number: n, spec: spec, guest: e.local.Guest(spec)}
}

// nodeIP is the address of node n.
func (e *Env) nodeIP(n int) string { return e.local.Guest(local.GuestSpec{Number: n}).IP() }

// Name is the node's name, in Kubernetes and as a host.
func (n *Node) Name() string { return n.guest.Name() }

// IP is the node's address.
func (n *Node) IP() string { return n.guest.IP() }

// Dir is the node's folder on the host.
func (n *Node) Dir() string { return n.guest.Dir() }

// Path is where the host sees a file of the running node, mounts included.
func (n *Node) Path(path string) string { return n.guest.Path(path) }

// Exec runs argv on the node, outside of any container, and returns its
// standard output. A command that fails gives a *local.ExitError.
func (n *Node) Exec(ctx context.Context, argv ...string) ([]byte, error) {
	return n.guest.Exec(ctx, argv...)
}

// Command returns a command that runs argv on the node, outside of any container.
// Standard streams are the caller's to set.
func (n *Node) Command(ctx context.Context, argv ...string) *exec.Cmd {
	return n.guest.Command(ctx, argv...)
}

// Stop ends the kubelet with SIGKILL. Containers go on; the node is not ready
// after a while.
func (n *Node) Stop(ctx context.Context) error { return n.kill(ctx, kubeletName) }

// Kill ends the whole node as a pulled plug does: kubelet, containerd, all
// containers, and no peer sees a connection end. Its disk and devices stay.
func (n *Node) Kill(ctx context.Context) error {
	if err := n.guest.PowerOff(ctx); err != nil {
		return err
	}
	return hostCgroups.remove(ctx, n.Name())
}

// Cut takes the node and its pods off the network. Nothing on it notices but by
// the silence.
func (n *Node) Cut(ctx context.Context) error { return n.guest.Cut(ctx) }

// Restore brings the node back from whatever was done to it, and waits until
// Kubernetes says that it is ready.
//
// A kubelet that was starting while the API server was restarted can stay not
// ready for ever, on "failed to initialize CSINode": it gets a second start.
func (n *Node) Restore(ctx context.Context) error {
	if err := n.bringBack(ctx); err != nil {
		return fmt.Errorf("bringing back %s: %w", n.Name(), err)
	}
	if n.awaitReady(ctx, nodeSettledMax) == nil {
		return nil
	}
	n.env.cfg.logf("%s is not ready after %v: starting its kubelet again", n.Name(), nodeSettledMax)
	if err := n.Stop(ctx); err != nil {
		return fmt.Errorf("bringing back %s: %w", n.Name(), err)
	}
	if err := n.bringBack(ctx); err != nil {
		return fmt.Errorf("bringing back %s: %w", n.Name(), err)
	}
	return n.AwaitReady(ctx)
}

// bringBack starts what does not run and connects what is cut off.
func (n *Node) bringBack(ctx context.Context) error {
	switch {
	case !n.guest.Running():
		if err := n.start(ctx); err != nil {
			return err
		}
	case n.guest.IsPaused():
		if err := n.guest.Resume(); err != nil {
			return err
		}
	}
	if n.guest.IsCut() {
		if err := n.guest.Heal(ctx); err != nil {
			return err
		}
	}
	if err := n.attachDevices(); err != nil {
		return err
	}
	return n.startParts(ctx)
}

// start brings up the machine with its configuration.
func (n *Node) start(ctx context.Context) error {
	// What a killed run left would keep the old bounds.
	if err := hostCgroups.remove(ctx, n.Name()); err != nil {
		return err
	}
	if err := hostCgroups.make(n.Name(), n.env.cfg.MemoryMiB); err != nil {
		return err
	}
	device, err := n.env.movableDevice()
	if err != nil {
		return err
	}
	cache, err := program.CacheDir()
	if err != nil {
		return err
	}
	spec := n.spec
	spec.Mounts = []local.Mounted{
		{From: cache, To: cacheInside, ReadOnly: true},
		{From: device, To: movableDir, Type: "xfs"},
	}
	if err := n.env.local.Guest(spec).Start(ctx); err != nil {
		return err
	}
	return n.configure()
}

// user is as whom the node's kubelet and kube-proxy come to the API server.
func (n *Node) user(part string) local.User {
	if part == proxyName {
		return local.User{Name: "system:kube-proxy"}
	}
	return local.User{Name: "system:node:" + n.Name(), Groups: []string{"system:nodes"}, IPs: []net.IP{net.ParseIP(n.IP())}}
}

// AwaitReady waits until Kubernetes says that the node is ready.
func (n *Node) AwaitReady(ctx context.Context) error { return n.awaitReady(ctx, nodeReadyMax) }

func (n *Node) awaitReady(ctx context.Context, deadline time.Duration) error {
	return await.Until(ctx, deadline, n.Name()+" is ready", n.logFile(kubeletName), n.ready)
}

// AwaitNotReady waits until Kubernetes knows that the node is not ready.
func (n *Node) AwaitNotReady(ctx context.Context) error {
	return await.Until(ctx, nodeNotReadyMax, n.Name()+" is not ready", "", func(ctx context.Context) error {
		got, err := n.get(ctx)
		if err != nil {
			return err
		}
		if nodeReady(got) == nil {
			return fmt.Errorf("%s is ready", n.Name())
		}
		return nil
	})
}

// ready fails unless Kubernetes says that the node is ready.
func (n *Node) ready(ctx context.Context) error {
	got, err := n.get(ctx)
	if err != nil {
		return err
	}
	return nodeReady(got)
}

// get asks Kubernetes for the node.
func (n *Node) get(ctx context.Context) (*corev1.Node, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, probeMax, fmt.Errorf("no answer within %v", probeMax))
	defer cancel()
	return n.env.client.CoreV1().Nodes().Get(ctx, n.Name(), metav1.GetOptions{})
}

// nodeReady fails unless the node says that it is ready.
func nodeReady(n *corev1.Node) error {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue {
			return fmt.Errorf("%s is not ready since %s: %s: %s", n.Name, c.LastTransitionTime.Format(time.TimeOnly), c.Reason, c.Message)
		}
		if c.Type == corev1.NodeReady {
			return nil
		}
	}
	return fmt.Errorf("%s has not said whether it is ready", n.Name)
}

// logFile is the log of a part of the node, on the host.
func (n *Node) logFile(part string) string {
	return filepath.Join(n.guest.Root(), "var/log", part+".log")
}
