package e2e

import (
	"encoding/xml"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/test/local"
	"github.com/gluster/anthill/test/rig"
)

func objectKey(o client.Object) client.ObjectKey { return client.ObjectKeyFromObject(o) }

func notFound(err error) bool { return apierrors.IsNotFound(err) }

func secretOf(t *testing.T, r *rig.Rig, ns, name string) *corev1.Secret {
	t.Helper()
	s := &corev1.Secret{}
	must(t, r.Client.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: name}, s))
	return s
}

// ask runs a gluster command on a server and reads its XML.
func ask(t *testing.T, s *local.Server, into any, args ...string) {
	t.Helper()
	out, err := s.Gluster(t.Context(), append([]string{"--xml"}, args...)...)
	must(t, err)
	must(t, xml.Unmarshal(out, into))
}

// peer states of glusterd.
const peerInCluster = 3

// connectedPeers are the UUIDs of the other servers that s sees connected and in
// the cluster.
func connectedPeers(t *testing.T, s *local.Server) []string {
	t.Helper()
	var answer struct {
		Peers []struct {
			UUID      string `xml:"uuid"`
			Connected int    `xml:"connected"`
			State     int    `xml:"state"`
		} `xml:"peerStatus>peer"`
	}
	ask(t, s, &answer, "peer", "status")
	var out []string
	for _, p := range answer.Peers {
		if p.Connected == 1 && p.State == peerInCluster {
			out = append(out, p.UUID)
		}
	}
	return out
}

// A glusterVolume is a volume as gluster itself tells.
type glusterVolume struct {
	Name   string `xml:"name"`
	ID     string `xml:"id"`
	Status string `xml:"statusStr"`
	Bricks []struct {
		Name     string `xml:"name"`
		HostUUID string `xml:"hostUuid"`
	} `xml:"bricks>brick"`
	Options []struct {
		Name  string `xml:"name"`
		Value string `xml:"value"`
	} `xml:"options>option"`
}

// volumes are the volumes that s knows, by name.
func volumes(t *testing.T, s *local.Server) map[string]glusterVolume {
	t.Helper()
	var answer struct {
		Volumes []glusterVolume `xml:"volInfo>volumes>volume"`
	}
	ask(t, s, &answer, "volume", "info")
	out := map[string]glusterVolume{}
	for _, v := range answer.Volumes {
		out[v.Name] = v
	}
	return out
}

// serving fails unless a volume has so many bricks and every one of them serves,
// as its own server and its process tell: started, with a port, alive (LAB-7).
func serving(t *testing.T, all []*local.Server, volume string, bricks int) {
	t.Helper()
	found := 0
	for _, s := range all {
		var answer struct {
			Nodes []struct {
				Host   string `xml:"hostname"`
				Path   string `xml:"path"`
				Status int    `xml:"status"`
				Port   string `xml:"port"`
				PID    int    `xml:"pid"`
			} `xml:"volStatus>volumes>volume>node"`
		}
		ask(t, s, &answer, "volume", "status", volume)
		for _, n := range answer.Nodes {
			if n.Host != s.Name() || !strings.HasPrefix(n.Path, "/") {
				continue // another server's, or a daemon
			}
			found++
			if _, err := strconv.Atoi(n.Port); err != nil || n.Status != 1 {
				t.Errorf("brick %s:%s has status %d and port %q", n.Host, n.Path, n.Status, n.Port)
			}
			if _, err := s.Exec(t.Context(), "kill", "-0", strconv.Itoa(n.PID)); err != nil {
				t.Errorf("the process of brick %s:%s does not live: %v", n.Host, n.Path, err)
			}
		}
	}
	if found != bricks {
		t.Errorf("volume %s has %d bricks, want %d", volume, found, bricks)
	}
}
