package pods

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/gluster/anthill/test/cluster"
	"github.com/gluster/anthill/test/image"
	"github.com/gluster/anthill/test/local"
	"github.com/gluster/anthill/test/rig"
)

// A Site is a Kubernetes in which the operator is, or will be, installed.
type Site struct {
	*rig.Rig // without servers and process of its own

	Env      *cluster.Env
	Operator *Operator
}

// New looks at a cluster. It changes nothing.
func New(env *cluster.Env) (*Site, error) {
	checkout, err := local.Config{}.Root()
	if err != nil {
		return nil, err
	}
	scheme, err := rig.Scheme()
	if err != nil {
		return nil, err
	}
	log.SetLogger(logr.Discard()) // the client library's own; what matters comes back as errors
	c, err := client.New(env.RESTConfig(), client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("reaching the API server: %w", err)
	}
	s := &Site{Rig: &rig.Rig{Client: c, Checkout: checkout}, Env: env}
	s.Operator = &Operator{site: s}
	return s, nil
}

// NodeImage is what pods of glusterd run.
func (s *Site) NodeImage() string { return s.Env.NodeImage(image.Gluster10) }

// Namespace makes a namespace that takes the privileged pods of glusterd and of
// clients.
func (s *Site) Namespace(ctx context.Context, name string) error {
	ns := &corev1.Namespace{}
	ns.Name = name
	ns.Labels = map[string]string{"pod-security.kubernetes.io/enforce": "privileged"}
	if err := client.IgnoreAlreadyExists(s.Client.Create(ctx, ns)); err != nil {
		return fmt.Errorf("making namespace %q: %w", name, err)
	}
	return nil
}
