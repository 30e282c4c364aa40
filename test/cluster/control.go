package cluster

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/gluster/anthill/test/atomicfile"
	"github.com/gluster/anthill/test/await"
	"github.com/gluster/anthill/test/local"
	"github.com/gluster/anthill/test/program"
)

// controlReadyMax is how long a component of the control plane may take.
const controlReadyMax = 60 * time.Second

// How soon a node that says nothing counts as not ready. Its kubelet says so
// every four seconds.
const (
	nodeLease   = "16s"
	nodeMonitor = "2s"
)

// A component is a process of the control plane that this package runs beside
// etcd and the API server.
type component struct {
	name    string
	user    local.User
	argv    func(kubeconfig string) []string
	movable bool // sees the folders of claims that can move
	ready   func(context.Context) error
}

// components lists them.
func (e *Env) components() []component {
	host, pki := e.local.HostIP(), e.local.APIServer.PKI
	kube := func(name string) string { return program.Kube(e.cfg.Checkout, name).Path() }
	return []component{
		{
			name: controllerManagerName, user: local.User{Name: "system:kube-controller-manager"}, movable: true,
			argv: func(kubeconfig string) []string {
				return []string{
					kube(controllerManagerName), "--kubeconfig=" + kubeconfig, "--bind-address=" + host,
					"--use-service-account-credentials", "--leader-elect=false",
					"--service-account-private-key-file=" + pki("sa.key"), "--root-ca-file=" + pki("ca.crt"),
					"--tls-cert-file=" + pki("apiserver.crt"), "--tls-private-key-file=" + pki("apiserver.key"),
					// Which part of the pods' range a node has follows from its number.
					"--allocate-node-cidrs=false",
					"--node-monitor-period=" + nodeMonitor, "--node-monitor-grace-period=" + nodeLease,
					"--enable-hostpath-provisioner",
				}
			},
			ready: e.healthz("10257"),
		},
		{
			name: schedulerName, user: local.User{Name: "system:kube-scheduler"},
			argv: func(kubeconfig string) []string {
				return []string{
					kube(schedulerName), "--kubeconfig=" + kubeconfig, "--bind-address=" + host, "--leader-elect=false",
					"--tls-cert-file=" + pki("apiserver.crt"), "--tls-private-key-file=" + pki("apiserver.key"),
				}
			},
			ready: e.healthz("10259"),
		},
		{
			name: corednsName, user: local.User{Name: corednsUser},
			argv:  func(string) []string { return []string{program.CoreDNS.Path(), "-conf", e.file("Corefile")} },
			ready: e.resolves,
		},
	}
}

// startControl starts what does not run and waits until it serves.
func (e *Env) startControl(ctx context.Context) error {
	if err := e.writeCorefile(); err != nil {
		return err
	}
	var jobs []func(context.Context) error
	for _, c := range e.components() {
		jobs = append(jobs, func(ctx context.Context) error { return e.startComponent(ctx, c) })
	}
	return await.All(ctx, jobs)
}

func (e *Env) startComponent(ctx context.Context, c component) error {
	if err := e.local.APIServer.Issue(c.name, c.user); err != nil {
		return err
	}
	kubeconfig := e.file(c.name + ".kubeconfig")
	if err := e.local.APIServer.WriteKubeconfig(kubeconfig, c.name); err != nil {
		return err
	}
	var mounts []local.Mounted
	if c.movable {
		device, err := e.movableDevice()
		if err != nil {
			return err
		}
		// A /tmp of its own, so that nothing is left in the host's.
		mounts = []local.Mounted{{From: "tmpfs", To: "/tmp", Type: "tmpfs"}, {From: device, To: movableDir, Type: "xfs"}}
	}
	run := e.local.Component(c.name)
	if err := run.Start(ctx, c.argv(kubeconfig), mounts...); err != nil {
		return err
	}
	return await.Until(ctx, controlReadyMax, c.name+" serves", run.LogFile(), func(ctx context.Context) error {
		if !run.Running() {
			return fmt.Errorf("%s is not running", c.name)
		}
		return c.ready(ctx)
	})
}

// file is a file of the cluster.
func (e *Env) file(name string) string { return filepath.Join(e.local.Dir(), name) }

// clusterDomain is the domain of services.
const clusterDomain = "cluster.local"

// writeCorefile configures CoreDNS. Nothing is kept for later: tests look up
// names of pods that come and go.
func (e *Env) writeCorefile() error {
	text := fmt.Sprintf(`.:53 {
	bind %s
	errors
	kubernetes %s in-addr.arpa {
		kubeconfig %s
		pods insecure
		ttl 1
	}
}
`, e.local.HostIP(), clusterDomain, e.file(corednsName+".kubeconfig"))
	return atomicfile.Write(e.file("Corefile"), []byte(text), 0o644)
}
