package local

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/gluster/anthill/test/atomicfile"
)

// certLife is how long an environment's certificates are valid.
const certLife = 30 * 24 * time.Hour

// ServiceRange is where services get their addresses; serviceIP is the first,
// which the API server gives to itself.
const (
	ServiceRange = "10.255.0.0/24"
	serviceIP    = "10.255.0.1"
)

// authority signs an environment's certificates.
type authority struct {
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// makeCerts makes the authority and the certificates of etcd, the API server
// and the administrator in dir, unless they are there.
func makeCerts(dir, hostIP string) error {
	done := filepath.Join(dir, "sa.pub") // written last
	if _, err := os.Stat(done); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making certificates: %w", err)
	}
	a, err := newAuthority(dir)
	if err != nil {
		return fmt.Errorf("making certificates: %w", err)
	}
	ips := []net.IP{net.ParseIP(hostIP), net.IPv4(127, 0, 0, 1)}
	certs := map[string]*x509.Certificate{
		"etcd":        {Subject: pkix.Name{CommonName: "etcd"}, IPAddresses: ips},
		"etcd-client": {Subject: pkix.Name{CommonName: "kube-apiserver-etcd-client"}},
		"apiserver": {
			Subject:     pkix.Name{CommonName: "kube-apiserver"},
			IPAddresses: append(ips, net.ParseIP(serviceIP)),
			DNSNames:    []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"},
		},
		"admin": {Subject: pkix.Name{CommonName: "admin", Organization: []string{"system:masters"}}},
		// As whom the API server comes to kubelets.
		"kubelet-client": {Subject: pkix.Name{CommonName: "kube-apiserver-kubelet-client", Organization: []string{"system:masters"}}},
	}
	for name, template := range certs {
		if err := a.issue(name, template); err != nil {
			return fmt.Errorf("making certificate %q: %w", name, err)
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("making the key of service accounts: %w", err)
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return fmt.Errorf("making the key of service accounts: %w", err)
	}
	return errors.Join(
		writeKey(filepath.Join(dir, "sa.key"), key),
		writePEM(done, "PUBLIC KEY", public, 0o644),
	)
}

func newAuthority(dir string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "anthill-local"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(certLife),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &authority{dir: dir, cert: cert, key: key}, errors.Join(
		writeKey(filepath.Join(dir, "ca.key"), key),
		writePEM(filepath.Join(dir, "ca.crt"), "CERTIFICATE", der, 0o644),
	)
}

// openAuthority reads back what newAuthority wrote.
func openAuthority(dir string) (*authority, error) {
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "ca.crt"), filepath.Join(dir, "ca.key"))
	if err != nil {
		return nil, err
	}
	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("the authority's key is a %T", pair.PrivateKey)
	}
	return &authority{dir: dir, cert: pair.Leaf, key: key}, nil
}

// A User is whom a certificate is for.
type User struct {
	Name   string
	Groups []string
	IPs    []net.IP // of one that serves too
}

// Issue makes the certificate PKI(name+".crt") and its key, unless they are
// there.
func (a *APIServer) Issue(name string, u User) error {
	if _, err := os.Stat(a.PKI(name + ".crt")); err == nil { // written after the key
		return nil
	}
	authority, err := openAuthority(a.PKI(""))
	if err != nil {
		return fmt.Errorf("making certificate %q: %w", name, err)
	}
	err = authority.issue(name, &x509.Certificate{
		Subject: pkix.Name{CommonName: u.Name, Organization: u.Groups}, IPAddresses: u.IPs,
	})
	if err != nil {
		return fmt.Errorf("making certificate %q: %w", name, err)
	}
	return nil
}

// issue writes name.crt and name.key. All certificates may be used by both
// sides: etcd's serves clients and is one to its peers.
func (a *authority) issue(name string, template *x509.Certificate) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 64)); err != nil {
		return err
	}
	template.NotBefore, template.NotAfter = a.cert.NotBefore, a.cert.NotAfter
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		return err
	}
	return errors.Join(
		writeKey(filepath.Join(a.dir, name+".key"), key),
		writePEM(filepath.Join(a.dir, name+".crt"), "CERTIFICATE", der, 0o644),
	)
}

func writeKey(file string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return writePEM(file, "EC PRIVATE KEY", der, 0o600)
}

func writePEM(file, kind string, der []byte, mode os.FileMode) error {
	return atomicfile.Write(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), mode)
}
