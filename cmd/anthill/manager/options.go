package manager

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/gluster/anthill/cmd/anthill/cli"
	"github.com/gluster/anthill/cmd/anthill/journalctl"
)

// Defaults of options.
const (
	leaseName        = "anthill-operator"
	namespaceDefault = "anthill-system" // of the installation, outside a pod
	metricsDefault   = "127.0.0.1:8080"
	healthDefault    = "127.0.0.1:8081"
	resyncDefault    = 30 * time.Second
)

// Options are the flags of the manager.
type Options struct {
	Journal        string   // path of the journal file; its directory is made
	Kubeconfig     string   // empty: the usual places, else the pod's own
	Namespaces     []string // to look after; empty: all
	Instance       string   // name among operators; stable over restarts
	LeaderElect    bool
	LeaseNamespace string
	MetricsAddress string // "0": none
	HealthAddress  string // "0": none
	Resync         cli.Span
	GateTransport  string // "ssh" or "unix:<folder>"
	GateBinary     string // empty: see gateFile
	NodeImage      string // of pods whose cluster names none; empty: none
	LogLevel       cli.Choice
	LogFormat      cli.Choice
}

// NewOptions returns the defaults, for the process that getenv describes.
func NewOptions(getenv func(string) string) *Options {
	o := &Options{
		Journal:        getenv(journalctl.PathEnv),
		LeaderElect:    true,
		LeaseNamespace: getenv("POD_NAMESPACE"),
		MetricsAddress: metricsDefault,
		HealthAddress:  healthDefault,
		Resync:         cli.Span(resyncDefault),
		GateTransport:  "ssh",
		LogLevel:       cli.Choice{Value: "info", Allowed: []string{"trace", "debug", "info", "warn", "error"}},
		LogFormat:      cli.Choice{Value: "json", Allowed: []string{"json", "console"}},
	}
	if o.Journal == "" {
		o.Journal = journalctl.DefaultPath
	}
	if o.LeaseNamespace == "" {
		o.LeaseNamespace = namespaceDefault
	}
	o.Instance = o.LeaseNamespace + "/" + leaseName
	return o
}

// AddFlags registers the flags.
func (o *Options) AddFlags(f *pflag.FlagSet) {
	f.StringVar(&o.Journal, "journal", o.Journal, "journal file, on a local file system")
	f.StringVar(&o.Kubeconfig, "kubeconfig", o.Kubeconfig, "how to reach the API server; default: $KUBECONFIG, ~/.kube/config, else the pod's own account")
	f.StringSliceVarP(&o.Namespaces, "namespace", "n", o.Namespaces, "namespace to look after, may be repeated; default: all")
	f.StringVar(&o.Instance, "instance", o.Instance, "name of this operator among operators; it owns the pools it makes and must stay the same")
	f.BoolVar(&o.LeaderElect, "leader-elect", o.LeaderElect, "act only while holding the Lease "+leaseName)
	f.StringVar(&o.LeaseNamespace, "leader-elect-namespace", o.LeaseNamespace, "namespace of the Lease")
	f.StringVar(&o.MetricsAddress, "metrics-bind-address", o.MetricsAddress, "where /metrics is served; 0: nowhere")
	f.StringVar(&o.HealthAddress, "health-probe-bind-address", o.HealthAddress, "where /healthz and /readyz are served; 0: nowhere")
	f.Var(&o.Resync, "resync", "how often a cluster is looked at when nothing tells of a change")
	f.StringVar(&o.GateTransport, "gate-transport", o.GateTransport, "how servers are reached: ssh (and exec into pods), or unix:DIR for the sockets DIR/<address>.sock")
	f.StringVar(&o.GateBinary, "gate-binary", o.GateBinary, "program to install on servers as their gate; default: anthill-gate beside this program, else this program")
	f.StringVar(&o.NodeImage, "node-image", o.NodeImage, "image of pods whose GlusterCluster names none in spec.image; default: there is none, and such pods are not made")
	f.Var(&o.LogLevel, "log-level", "least severe level that is logged")
	f.Var(&o.LogFormat, "log-format", "json, or console for people")
}

// Validate reports the first thing that makes no sense, and what would.
func (o *Options) Validate() error {
	switch {
	case !filepath.IsAbs(o.Journal):
		return cli.Usagef("--journal %q: an absolute path is accepted", o.Journal)
	case o.Instance == "" || len(o.Instance) > 256 || strings.ContainsFunc(o.Instance, func(r rune) bool { return r <= ' ' || r > '~' }):
		return cli.Usagef("--instance %q: 1 to 256 printable characters without spaces are accepted", o.Instance)
	case time.Duration(o.Resync) < 10*time.Millisecond:
		return cli.Usagef("--resync %s: at least 10ms is accepted", o.Resync.String())
	}
	for _, ns := range append([]string{o.LeaseNamespace}, o.Namespaces...) {
		if len(validation.IsDNS1123Label(ns)) > 0 {
			return cli.Usagef("namespace %q: a name of lower-case letters, digits and '-' is accepted", ns)
		}
	}
	for flag, addr := range map[string]string{"--metrics-bind-address": o.MetricsAddress, "--health-probe-bind-address": o.HealthAddress} {
		if addr == "0" {
			continue
		}
		if _, _, err := net.SplitHostPort(addr); err != nil {
			return cli.Usagef("%s %q: HOST:PORT, :PORT or 0 is accepted", flag, addr)
		}
	}
	if _, err := ParseTransport(o.GateTransport); err != nil {
		return err
	}
	if o.GateBinary != "" {
		if st, err := os.Stat(o.GateBinary); err != nil || !st.Mode().IsRegular() {
			return cli.Usagef("--gate-binary %q: the path of a program is accepted", o.GateBinary)
		}
	}
	return nil
}
