package local

import (
	"context"
	"fmt"
	"os"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/gluster/anthill/test/atomicfile"
)

// tokenLife is how long a ServiceAccount's kubeconfig works.
const tokenLife = 24 * time.Hour

// RestConfig is the administrator's access, without client-side rate limit.
func (a *APIServer) RestConfig() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", a.Kubeconfig())
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	config.QPS = -1
	return config, nil
}

// ServiceAccountKubeconfig returns a kubeconfig with a token of the given
// ServiceAccount, which must exist, and no other right. It works for 24 hours.
func (a *APIServer) ServiceAccountKubeconfig(ctx context.Context, namespace, name string) ([]byte, error) {
	config, err := a.RestConfig()
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("asking for a token of %s/%s: %w", namespace, name, err)
	}
	seconds := int64(tokenLife.Seconds())
	token, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds},
	}, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("asking for a token of %s/%s: %w", namespace, name, err)
	}
	return a.kubeconfig(namespace, &api.AuthInfo{Token: token.Status.Token})
}

// writeKubeconfig writes the administrator's kubeconfig.
func (a *APIServer) writeKubeconfig() error { return a.WriteKubeconfig(a.Kubeconfig(), "admin") }

// WriteKubeconfig writes a kubeconfig with the certificate of that name.
func (a *APIServer) WriteKubeconfig(file, name string) error {
	cert, err := os.ReadFile(a.PKI(name + ".crt"))
	if err != nil {
		return fmt.Errorf("writing the kubeconfig of %s: %w", name, err)
	}
	key, err := os.ReadFile(a.PKI(name + ".key"))
	if err != nil {
		return fmt.Errorf("writing the kubeconfig of %s: %w", name, err)
	}
	data, err := a.kubeconfig(metav1.NamespaceDefault, &api.AuthInfo{ClientCertificateData: cert, ClientKeyData: key})
	if err != nil {
		return err
	}
	return atomicfile.Write(file, data, 0o600)
}

// kubeconfig returns a self-contained kubeconfig for one user.
func (a *APIServer) kubeconfig(namespace string, user *api.AuthInfo) ([]byte, error) {
	ca, err := os.ReadFile(a.PKI("ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("writing a kubeconfig: %w", err)
	}
	const name = "anthill-local"
	c := api.NewConfig()
	c.Clusters[name] = &api.Cluster{Server: a.URL(), CertificateAuthorityData: ca}
	c.AuthInfos[name] = user
	c.Contexts[name] = &api.Context{Cluster: name, AuthInfo: name, Namespace: namespace}
	c.CurrentContext = name
	data, err := clientcmd.Write(*c)
	if err != nil {
		return nil, fmt.Errorf("writing a kubeconfig: %w", err)
	}
	return data, nil
}
