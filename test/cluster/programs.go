package cluster

import (
	"context"
	"path/filepath"

	"github.com/gluster/anthill/test/program"
)

// cacheInside is where a node sees the cache of built programs, read-only.
const cacheInside = "/opt/anthill"

// Programs of Kubernetes beside those of package local.
const (
	controllerManagerName = "kube-controller-manager"
	schedulerName         = "kube-scheduler"
	proxyName             = "kube-proxy"
	kubeletName           = "kubelet"
	corednsName           = "coredns"
	containerdName        = "containerd"
)

// programs lists what a cluster runs, in the order of building: what shares most
// comes one after the other.
func programs(checkout string) []program.Program {
	all := []program.Program{program.Runc, program.CNI, program.Containerd, program.CoreDNS}
	for _, name := range []string{
		"etcd", "kube-apiserver", controllerManagerName, schedulerName, kubeletName, proxyName, "kubectl",
	} {
		all = append(all, program.Kube(checkout, name))
	}
	return all
}

// buildPrograms builds what is not built yet.
func buildPrograms(ctx context.Context, checkout string, logf func(string, ...any)) error {
	for _, p := range programs(checkout) {
		if err := p.Build(ctx, logf); err != nil {
			return err
		}
	}
	return nil
}

// inside is where a node sees a binary of a program.
func inside(p program.Program, binary string) string {
	return filepath.Join(cacheInside, filepath.Base(p.Dir()), binary)
}
