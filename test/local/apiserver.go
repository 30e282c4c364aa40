package local

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Components of the control plane, as the state file and logs name them.
const (
	etcdName      = "etcd"
	apiServerName = "kube-apiserver"
)

// apiReadyMax is how long etcd and the API server may take together.
const apiReadyMax = 90 * time.Second

// An APIServer is a real kube-apiserver on a real etcd, with RBAC, and nothing
// else: no controllers, no scheduler, no nodes. So a deleted namespace stays
// Terminating for ever, namespaces get no default ServiceAccount, and owner
// references collect nothing.
type APIServer struct{ env *Env }

// Kubeconfig is the file with the administrator's access.
func (a *APIServer) Kubeconfig() string { return filepath.Join(a.env.dir, "kubeconfig") }

// URL is where the API server listens.
func (a *APIServer) URL() string { return "https://" + a.env.HostIP() + ":6443" }

// Kubectl is the path of kubectl, built with Config.Kubectl.
func (a *APIServer) Kubectl() string { return kubeBinary("kubectl", a.env.cfg.Checkout).path() }

// Running tells whether the API server's process is alive.
func (a *APIServer) Running() bool { return a.env.load().Procs[apiServerName].alive() }

// bringBack makes what is missing and starts what does not run.
func (a *APIServer) bringBack(ctx context.Context) error {
	if err := makeCerts(a.pki(""), a.env.HostIP()); err != nil {
		return err
	}
	if err := a.writeKubeconfig(); err != nil {
		return err
	}
	if err := a.writeAuditPolicy(); err != nil {
		return err
	}
	return a.Start(ctx)
}

// Start starts etcd and the API server, if they do not run, and waits until
// the API server is ready.
func (a *APIServer) Start(ctx context.Context) error {
	begun := time.Now()
	procs := a.env.load().Procs
	if !procs[etcdName].alive() {
		if err := a.launch(ctx, etcdName, a.etcdFlags()); err != nil {
			return err
		}
	}
	if procs[apiServerName].alive() {
		return a.AwaitReady(ctx)
	}
	// Not waiting for etcd: the API server retries, and is slower to start.
	if err := a.launch(ctx, apiServerName, a.apiServerFlags()); err != nil {
		return err
	}
	if err := a.AwaitReady(ctx); err != nil {
		return err
	}
	a.env.logf("kube-apiserver %s is ready after %.1f s", a.URL(), time.Since(begun).Seconds())
	return nil
}

// Kill ends the API server with SIGKILL. Its data and etcd stay.
func (a *APIServer) Kill(ctx context.Context) error {
	return a.env.load().Procs[apiServerName].kill(ctx)
}

// KillEtcd ends etcd with SIGKILL. Start brings it back with its data.
func (a *APIServer) KillEtcd(ctx context.Context) error {
	return a.env.load().Procs[etcdName].kill(ctx)
}

// AwaitReady waits until the API server says that it is ready and the default
// namespace exists, which it makes after that.
func (a *APIServer) AwaitReady(ctx context.Context) error {
	return until(ctx, apiReadyMax, "kube-apiserver is ready", a.env.logFile(apiServerName), a.probe)
}

// probe fails unless the API server is ready.
func (a *APIServer) probe(ctx context.Context) error {
	for _, name := range []string{etcdName, apiServerName} {
		if !a.env.load().Procs[name].alive() {
			return fmt.Errorf("%s is not running%s", name, tail(a.env.logFile(name), 3))
		}
	}
	config, err := a.RestConfig()
	if err != nil {
		return err
	}
	config.Timeout = 5 * time.Second
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	if _, err := client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx); err != nil {
		return err
	}
	_, err = client.CoreV1().Namespaces().Get(ctx, metav1.NamespaceDefault, metav1.GetOptions{})
	return err
}

// launch starts a component with its log.
func (a *APIServer) launch(ctx context.Context, name string, flags []string) error {
	path := kubeBinary(name, a.env.cfg.Checkout).path()
	b := birth{
		role:  roleExec,
		argv:  name + " of environment " + a.env.net.id,
		log:   a.env.logFile(name),
		order: execOrder{Argv: append([]string{path}, flags...), Env: machineEnv(), Dir: a.env.dir},
		record: func(p proc) error {
			return a.env.change(func(s *state) error { s.Procs[name] = p; return nil })
		},
	}
	if _, err := b.bear(ctx); err != nil {
		return errors.Join(err, context.Cause(ctx))
	}
	return nil
}

// pki is the path of a certificate or key.
func (a *APIServer) pki(name string) string { return filepath.Join(a.env.dir, "pki", name) }

// etcdFlags: without fsync, as the machine under it is never cut off from power
// here; a killed etcd loses nothing.
func (a *APIServer) etcdFlags() []string {
	client, peer := "https://"+a.env.HostIP()+":2379", "https://"+a.env.HostIP()+":2380"
	return []string{
		"--name=local", "--data-dir=" + filepath.Join(a.env.dir, "etcd"), "--unsafe-no-fsync", "--log-level=warn",
		"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=local=" + peer,
		"--client-cert-auth", "--trusted-ca-file=" + a.pki("ca.crt"),
		"--cert-file=" + a.pki("etcd.crt"), "--key-file=" + a.pki("etcd.key"),
		"--peer-client-cert-auth", "--peer-trusted-ca-file=" + a.pki("ca.crt"),
		"--peer-cert-file=" + a.pki("etcd.crt"), "--peer-key-file=" + a.pki("etcd.key"),
	}
}

func (a *APIServer) apiServerFlags() []string {
	return append([]string{
		"--etcd-servers=https://" + a.env.HostIP() + ":2379", "--etcd-cafile=" + a.pki("ca.crt"),
		"--etcd-certfile=" + a.pki("etcd-client.crt"), "--etcd-keyfile=" + a.pki("etcd-client.key"),
		"--bind-address=" + a.env.HostIP(), "--advertise-address=" + a.env.HostIP(), "--secure-port=6443",
		"--tls-cert-file=" + a.pki("apiserver.crt"), "--tls-private-key-file=" + a.pki("apiserver.key"),
		"--client-ca-file=" + a.pki("ca.crt"), "--authorization-mode=RBAC", "--anonymous-auth=false",
		"--service-account-issuer=https://kubernetes.default.svc", "--api-audiences=https://kubernetes.default.svc",
		"--service-account-key-file=" + a.pki("sa.pub"), "--service-account-signing-key-file=" + a.pki("sa.key"),
		"--service-cluster-ip-range=" + serviceRange,
		// Pods of nodes are privileged, and the names of hosts need not resolve.
		"--allow-privileged=true", "--kubelet-preferred-address-types=InternalIP",
		// There is no service network: nothing could use the endpoints of "kubernetes".
		"--endpoint-reconciler-type=none",
	}, a.auditFlags()...)
}
