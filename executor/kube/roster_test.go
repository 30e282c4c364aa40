package kube

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/executor/gate"
)

// secrets is an API server with Secrets only; it counts how often one is read.
type secrets struct {
	keys  map[string]string // private keys by name of the Secret
	reads int
}

func (s *secrets) Get(_ context.Context, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	s.reads++
	k, ok := s.keys[key.Name]
	if !ok {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, key.Name)
	}
	o.(*corev1.Secret).Data = map[string][]byte{v1alpha1.SecretKeyPrivateKey: []byte(k)}
	return nil
}

func (s *secrets) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.New("Secrets are read one at a time")
}

// keyDialer shows with which key a server would be reached.
type keyDialer struct{ used map[string]string }

func (keyDialer) NeedsLogin() bool { return true }

func (d keyDialer) Server(n *v1alpha1.GlusterNode, l *Login) (gate.Server, error) {
	d.used[n.Name] = string(l.PrivateKey)
	return nil, nil
}

func node(name, secret string) v1alpha1.GlusterNode {
	n := v1alpha1.GlusterNode{}
	n.Namespace, n.Name = "ns", name
	n.Spec.External = &v1alpha1.ExternalServer{SSH: v1alpha1.SSH{SecretRef: v1alpha1.SecretReference{Name: secret}}}
	return n
}

func TestReachReadsASecretNowAndThen(t *testing.T) {
	api := &secrets{keys: map[string]string{"a": "key-a", "b": "key-b"}}
	now := time.Unix(1000, 0)
	d := keyDialer{used: map[string]string{}}
	r := &Roster{Live: api, Dialer: d, Now: func() time.Time { return now }}
	nodes := []v1alpha1.GlusterNode{node("n1", "a"), node("n2", "a"), node("n3", "b")}
	steps := []struct {
		reason string
		change func()
		reads  int
		want   map[string]string
	}{
		{"one read for each Secret", func() {}, 2, map[string]string{"n1": "key-a", "n2": "key-a", "n3": "key-b"}},
		{"none right after", func() { now = now.Add(loginMax - 1) }, 0, map[string]string{"n1": "key-a", "n2": "key-a", "n3": "key-b"}},
		{"a new key is noticed", func() { now = now.Add(1); api.keys["a"] = "new" }, 2, map[string]string{"n1": "new", "n2": "new", "n3": "key-b"}},
	}
	for _, s := range steps {
		s.change()
		before := api.reads
		r.Reach(t.Context(), nodes)
		if n := api.reads - before; n != s.reads {
			t.Errorf("%s: %d reads, want %d", s.reason, n, s.reads)
		}
		if diff := cmp.Diff(s.want, d.used); diff != "" {
			t.Errorf("%s: -want +got:\n%s", s.reason, diff)
		}
	}
}

func TestReachReadsAMissingSecretEachTime(t *testing.T) {
	api := &secrets{keys: map[string]string{"empty": ""}}
	r := &Roster{Live: api, Dialer: keyDialer{used: map[string]string{}}, Now: func() time.Time { return time.Unix(1000, 0) }}
	for _, tc := range []struct{ secret, reason string }{{"gone", v1alpha1.ReasonSecretNotFound}, {"empty", v1alpha1.ReasonSecretInvalid}} {
		for range 2 {
			before := api.reads
			s := r.Reach(t.Context(), []v1alpha1.GlusterNode{node("n1", tc.secret)})
			if s[0].Problem == nil || s[0].Problem.Reason != tc.reason || api.reads != before+1 {
				t.Errorf("Secret %q: problem %v after %d reads", tc.secret, s[0].Problem, api.reads-before)
			}
		}
	}
	api.keys["gone"] = "key"
	if s := r.Reach(t.Context(), []v1alpha1.GlusterNode{node("n1", "gone")}); s[0].Problem != nil {
		t.Errorf("a Secret that came is not seen: %v", s[0].Problem)
	}
}

func TestReachForgetsSecretsOfNodesThatAreGone(t *testing.T) {
	api := &secrets{keys: map[string]string{"a": "key-a", "b": "key-b"}}
	now := time.Unix(1000, 0)
	r := &Roster{Live: api, Dialer: keyDialer{used: map[string]string{}}, Now: func() time.Time { return now }}
	r.Reach(t.Context(), []v1alpha1.GlusterNode{node("n1", "a")})
	now = now.Add(loginMax)
	r.Reach(t.Context(), []v1alpha1.GlusterNode{node("n2", "b")})
	if len(r.logins) != 1 {
		t.Errorf("%d logins are kept in memory, want that of n2", len(r.logins))
	}
}
