package cluster

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"sigs.k8s.io/yaml"

	"github.com/gluster/anthill/test/atomicfile"
	"github.com/gluster/anthill/test/image"
	"github.com/gluster/anthill/test/program"
)

// Files of a node, as it sees them.
const (
	configDir            = "/etc/kubernetes"
	kubeletConfigFile    = configDir + "/kubelet.yaml"
	proxyConfigFile      = configDir + "/kube-proxy.yaml"
	containerdConfigFile = "/etc/containerd/config.toml"
	cniConfigFile        = "/etc/cni/net.d/10-anthill.conflist"
)

// zoneLabel is the label that spreads copies.
const zoneLabel = "topology.kubernetes.io/zone"

// Zone is the zone of the node; every node has one of its own.
func (n *Node) Zone() string { return "z" + strconv.Itoa(n.number) }

// configure writes everything the node's parts read.
func (n *Node) configure() error {
	api := n.env.local.APIServer
	files := map[string][]byte{
		containerdConfigFile: []byte(n.containerdConfig()),
		"/etc/resolv.conf":   []byte("nameserver " + n.env.local.HostIP() + "\n"),
	}
	for _, name := range []string{kubeletName, proxyName} {
		key := n.guest.Key() + "-" + name
		if err := api.Issue(key, n.user(name)); err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Join(n.guest.Root(), configDir), 0o755); err != nil {
			return fmt.Errorf("configuring %s: %w", n.Name(), err)
		}
		if err := api.WriteKubeconfig(filepath.Join(n.guest.Root(), kubeconfigOf(name)), key); err != nil {
			return err
		}
	}
	for to, from := range map[string]string{"ca.crt": "ca.crt", "kubelet.crt": n.guest.Key() + "-kubelet.crt", "kubelet.key": n.guest.Key() + "-kubelet.key"} {
		data, err := os.ReadFile(api.PKI(from))
		if err != nil {
			return fmt.Errorf("configuring %s: %w", n.Name(), err)
		}
		files[filepath.Join(configDir, to)] = data
	}
	for file, value := range map[string]object{kubeletConfigFile: n.kubeletConfig(), proxyConfigFile: n.proxyConfig(), cniConfigFile: n.cniConfig()} {
		var err error
		if file == cniConfigFile { // the one that must be JSON
			files[file], err = json.Marshal(value)
		} else {
			files[file], err = yaml.Marshal(value)
		}
		if err != nil {
			return fmt.Errorf("configuring %s: %w", n.Name(), err)
		}
	}
	for file, data := range files {
		path := filepath.Join(n.guest.Root(), file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("configuring %s: %w", n.Name(), err)
		}
		if err := atomicfile.Write(path, data, 0o600); err != nil {
			return fmt.Errorf("configuring %s: %w", n.Name(), err)
		}
	}
	return n.guest.SetHosts(n.IP() + " " + n.Name())
}

// object is one of YAML or JSON.
type object = map[string]any

func (n *Node) kubeletConfig() object {
	return object{
		"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
		"containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock",
		"address":                  n.IP(),
		"tlsCertFile":              filepath.Join(configDir, "kubelet.crt"), "tlsPrivateKeyFile": filepath.Join(configDir, "kubelet.key"),
		"authentication": object{"anonymous": object{"enabled": false}, "webhook": object{"enabled": true}, "x509": object{"clientCAFile": filepath.Join(configDir, "ca.crt")}},
		"authorization":  object{"mode": "Webhook"},
		"clusterDomain":  clusterDomain, "clusterDNS": []string{n.env.local.HostIP()}, "resolvConf": "/etc/resolv.conf",
		// Groups are made by hand: there may be no systemd, and there may be several
		// nodes on the machine.
		"cgroupDriver": "cgroupfs", "cgroupRoot": "/" + n.Name(), "failCgroupV1": false, "enforceNodeAllocatable": []string{"none"},
		// The disk is the machine's; nobody must be evicted when others fill it.
		"imageGCHighThresholdPercent": 100, "imageGCLowThresholdPercent": 99,
		"evictionHard": object{"memory.available": "50Mi", "nodefs.available": "1%", "nodefs.inodesFree": "1%", "imagefs.available": "1%"},
		"failSwapOn":   false,
		// A node that is gone is noticed after 16 s, a killed container runs again after one.
		"nodeStatusUpdateFrequency": "4s", "nodeLeaseDurationSeconds": 16,
		"crashLoopBackOff": object{"maxContainerRestartPeriod": "1s"},
		"featureGates":     object{"KubeletCrashLoopBackOffMax": true},
		"volumePluginDir":  "/var/lib/kubelet/volume-plugins",
		"logging":          object{"verbosity": 2},
	}
}

func (n *Node) proxyConfig() object {
	return object{
		"apiVersion": "kubeproxy.config.k8s.io/v1alpha1", "kind": "KubeProxyConfiguration",
		"clientConnection":   object{"kubeconfig": kubeconfigOf(proxyName)},
		"mode":               "iptables",
		"healthzBindAddress": n.IP() + ":10256", "metricsBindAddress": "127.0.0.1:10249",
		"detectLocalMode": "BridgeInterface", "detectLocal": object{"bridgeInterface": "cni0"},
		// Answers of a pod on the same bridge would come without the service's
		// address, where the kernel does not show bridged packets to its filters.
		"iptables": object{"masqueradeAll": true},
		// These bounds are the machine's, and not a node's to change.
		"conntrack": object{"maxPerCore": 0},
	}
}

func (n *Node) cniConfig() object {
	return object{
		"cniVersion": "1.0.0", "name": "anthill",
		"plugins": []object{
			{
				"type": "bridge", "bridge": "cni0", "isGateway": true, "hairpinMode": true,
				"ipam": object{
					"type": "host-local", "dataDir": "/run/cni",
					"ranges": [][]object{{{"subnet": podsOf(n.env.pods, n.number).String()}}},
					"routes": []object{{"dst": "0.0.0.0/0"}},
				},
			},
			{"type": "portmap", "capabilities": object{"portMappings": true}},
		},
	}
}

// containerdConfig: the machine may not lower the kernel's wish to kill a
// process, and every sandbox would fail for trying.
func (n *Node) containerdConfig() string {
	return fmt.Sprintf(`version = 3

[plugins.'io.containerd.cri.v1.images'.pinned_images]
  sandbox = %q

[plugins.'io.containerd.cri.v1.runtime']
  restrict_oom_score_adj = true

[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
  runtime_type = 'io.containerd.runc.v2'

[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
  BinaryName = %q
  SystemdCgroup = false

[plugins.'io.containerd.cri.v1.runtime'.cni]
  bin_dirs = [%q]
  conf_dir = %q
`, image.PauseName, inside(program.Runc, "runc"), inside(program.CNI, ""), filepath.Dir(cniConfigFile))
}
