package rig

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/test/local"
)

// A Rig is an environment with CRDs and roles installed and an operator that
// can be started.
type Rig struct {
	Env      *local.Env
	Client   client.Client // the administrator's
	Operator *Operator
	Checkout string
}

// Scheme knows the kinds of Kubernetes and Anthill's.
func Scheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(s); err != nil {
		return nil, err
	}
	return s, v1alpha1.AddToScheme(s)
}

// New installs what the operator needs into a running environment. The operator
// keeps its journal and log in the environment's folder, below name, so that
// they go with it; there may be several.
func New(ctx context.Context, env *local.Env, checkout, binary, name string) (*Rig, error) {
	scheme, err := Scheme()
	if err != nil {
		return nil, err
	}
	cfg, err := env.APIServer.RestConfig()
	if err != nil {
		return nil, err
	}
	log.SetLogger(logr.Discard()) // the client library's own; what matters comes back as errors
	c, err := client.New(cfg, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("reaching the API server: %w", err)
	}
	if err := Install(ctx, c, checkout); err != nil {
		return nil, err
	}
	r := &Rig{Env: env, Client: c, Checkout: checkout}
	r.Operator, err = r.NewOperator(ctx, binary, name)
	return r, err
}

// NewOperator makes a further operator, with a journal of its own.
func (r *Rig) NewOperator(ctx context.Context, binary, name string) (*Operator, error) {
	dir := filepath.Join(r.Env.Dir(), name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("making the operator's folder: %w", err)
	}
	kubeconfig, err := r.Env.APIServer.ServiceAccountKubeconfig(ctx, SystemNamespace, OperatorAccount)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(file, kubeconfig, 0o600); err != nil {
		return nil, fmt.Errorf("writing the operator's kubeconfig: %w", err)
	}
	return &Operator{Binary: binary, Dir: dir, Kubeconfig: file}, nil
}

// Secret makes the Secret with the login of the environment's servers.
func (r *Rig) Secret(ctx context.Context, namespace, name string) error {
	key, err := r.Env.SSHKey()
	if err != nil {
		return err
	}
	s := &corev1.Secret{Type: corev1.SecretTypeSSHAuth, Data: map[string][]byte{v1alpha1.SecretKeyPrivateKey: key}}
	s.Namespace, s.Name = namespace, name
	if err := client.IgnoreAlreadyExists(r.Client.Create(ctx, s)); err != nil {
		return fmt.Errorf("making Secret %q: %w", name, err)
	}
	return nil
}

// Node describes server n (from 1) of the environment as a GlusterNode.
func (r *Rig) Node(namespace, cluster, secret string, n int) (*v1alpha1.GlusterNode, error) {
	s := r.Env.Server(n)
	hostKey, err := s.HostKey()
	if err != nil {
		return nil, err
	}
	node := &v1alpha1.GlusterNode{}
	node.Namespace, node.Name = namespace, fmt.Sprintf("node-%d", n)
	node.Spec = v1alpha1.GlusterNodeSpec{
		Cluster: cluster,
		Zone:    fmt.Sprintf("rack-%d", n),
		External: &v1alpha1.ExternalServer{
			Address: s.Name(),
			SSH: v1alpha1.SSH{
				Host: s.IP(), SecretRef: v1alpha1.SecretReference{Name: secret}, HostKeys: []v1alpha1.HostKey{v1alpha1.HostKey(hostKey)},
			},
		},
	}
	for _, b := range s.Bricks() {
		node.Spec.External.BrickDirs = append(node.Spec.External.BrickDirs, v1alpha1.BrickDir(b))
	}
	return node, nil
}

// Cluster is a GlusterCluster of a few lines.
func Cluster(namespace, name string) *v1alpha1.GlusterCluster {
	c := &v1alpha1.GlusterCluster{}
	c.Namespace, c.Name = namespace, name
	return c
}

// Replicated is a GlusterVolume of sets replica sets of three.
func Replicated(namespace, cluster, name string, sets int32) *v1alpha1.GlusterVolume {
	v := &v1alpha1.GlusterVolume{}
	v.Namespace, v.Name = namespace, name
	v.Spec.Cluster = cluster
	v.Spec.Layout.Replicate = &v1alpha1.ReplicateLayout{Replica: 3, Sets: sets}
	return v
}
