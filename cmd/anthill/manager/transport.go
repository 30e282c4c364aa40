package manager

import (
	"path/filepath"
	"strings"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/cmd/anthill/cli"
	"github.com/gluster/anthill/executor/kube"
	"github.com/gluster/anthill/executor/kube/podexec"
	"github.com/gluster/anthill/executor/ssh"
)

// A Transport says how gates are reached.
type Transport struct{ dir string } // empty: ssh

// ParseTransport reads "ssh" or "unix:<folder>".
func ParseTransport(s string) (Transport, error) {
	if s == "ssh" {
		return Transport{}, nil
	}
	if dir, ok := strings.CutPrefix(s, "unix:"); ok && filepath.IsAbs(dir) {
		return Transport{dir: dir}, nil
	}
	return Transport{}, cli.Usagef("--gate-transport %q: ssh, or unix: followed by an absolute folder, is accepted", s)
}

// Dialer makes the dialer and what closes it. Nothing is contacted before a
// server is used.
func (t Transport) Dialer() (d kube.Dialer, closeAll func()) {
	if t.dir != "" {
		return kube.Unix{Dir: t.dir}, func() {}
	}
	pool := ssh.NewPool(ssh.Options{})
	return kube.SSH{Pool: pool}, pool.Close
}

// Pods makes the way into pods and what closes it; nil if the dialer serves pods
// too. cache holds pods.
func (t Transport) Pods(cfg *rest.Config, cache client.Reader) (d kube.PodDialer, closeAll func()) {
	if t.dir != "" {
		return nil, func() {}
	}
	pool := podexec.NewPool(cfg, podexec.Options{})
	return kube.Exec{Pool: pool, Cache: cache}, pool.Close
}
