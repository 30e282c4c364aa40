package local

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/gluster/anthill/test/await"
	"github.com/gluster/anthill/test/program"
)

func TestAPIServer(t *testing.T) {
	env := bring(t, Config{Instance: "t-api", APIServer: true})
	ctx := testContext(t)
	const namespace = "default"

	config, err := env.APIServer.RestConfig()
	must(t, err)
	admin, err := kubernetes.NewForConfig(config)
	must(t, err)
	version, err := admin.Discovery().ServerVersion()
	must(t, err)
	if want, err := program.Kube(env.cfg.Checkout, apiServerName).Version(); err != nil || version.GitVersion != want {
		t.Errorf("the server says that it is %s; want %s, %v", version.GitVersion, want, err)
	}
	_, err = admin.CoreV1().ServiceAccounts(namespace).Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "op"}}, metav1.CreateOptions{})
	must(t, err)
	_, err = admin.CoreV1().Secrets(namespace).Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "kept"}}, metav1.CreateOptions{})
	must(t, err)

	data, err := env.APIServer.ServiceAccountKubeconfig(ctx, namespace, "op")
	must(t, err)
	limited, err := clientcmd.RESTConfigFromKubeConfig(data)
	must(t, err)
	op, err := kubernetes.NewForConfig(limited)
	must(t, err)
	list := func() error {
		_, err := op.CoreV1().Secrets(namespace).List(ctx, metav1.ListOptions{})
		return err
	}
	if err := list(); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "system:serviceaccount:default:op") {
		t.Errorf("listing Secrets without a role: %v, want it forbidden to the ServiceAccount", err)
	}
	_, err = admin.RbacV1().Roles(namespace).Create(ctx, &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "op"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"list"}}},
	}, metav1.CreateOptions{})
	must(t, err)
	_, err = admin.RbacV1().RoleBindings(namespace).Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "op"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "op"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "op"}},
	}, metav1.CreateOptions{})
	must(t, err)
	must(t, await.Until(ctx, apiReadyMax, "the role works", "", func(context.Context) error { return list() }))
	if err := op.CoreV1().Secrets(namespace).Delete(ctx, "kept", metav1.DeleteOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("deleting a Secret with the right to list: %v, want it forbidden", err)
	}

	must(t, env.APIServer.Kill(ctx))
	must(t, env.APIServer.KillEtcd(ctx))
	if got := sick(ctx, env); len(got) != 1 || !strings.Contains(got[0], "not running") {
		t.Errorf("Status() of a killed API server: %q", got)
	}
	must(t, env.APIServer.Start(ctx))
	if _, err := admin.CoreV1().Secrets(namespace).Get(ctx, "kept", metav1.GetOptions{}); err != nil {
		t.Errorf("reading what was written before the kill: %v", err)
	}
}
