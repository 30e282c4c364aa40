package planctl

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/cmd/anthill/cli"
	"github.com/gluster/anthill/cmd/anthill/manager"
	"github.com/gluster/anthill/executor/kube"
	"github.com/gluster/anthill/executor/observe"
)

// timeoutDefault is how long a plan may take; a server that does not answer
// costs half a minute.
const timeoutDefault = 2 * time.Minute

// options are the flags.
type options struct {
	file          string
	cluster       string
	namespace     string
	all           bool
	kubeconfig    string
	journal       string // file
	socket        string
	gateTransport string
	gateBinary    string
	nodeImage     string
	timeout       cli.Span
	output        *cli.Output
}

// NewCommand returns the command "plan".
func NewCommand(getenv func(string) string) *cobra.Command {
	o := &options{gateTransport: "ssh", timeout: cli.Span(timeoutDefault), output: cli.NewOutput(cli.FormatTable, cli.FormatJSON, cli.FormatYAML)}
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Show what the operator would do, without doing it",
		Long: `Show what the operator would do, without doing it: for the clusters as they are,
or with -f as if the objects in FILE had been applied. Each GlusterCluster,
GlusterNode and GlusterVolume in FILE replaces the spec of the one that is there;
the API server judges it as a dry run, for which you need the right to apply it.
Objects of other kinds are skipped.

Ids of pools, volumes and operations that do not exist yet are examples.

Exit codes: 0 planned, whether or not there is something to do; 1 failed;
2 usage; 3 no such cluster; 8 timeout; 130 interrupted.`,
		Args: cli.Args(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), time.Duration(o.timeout))
			defer cancel()
			return o.run(ctx, getenv, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.file, "filename", "f", "", "plan as if the objects in this file had been applied; - is standard input")
	f.StringVar(&o.cluster, "cluster", "", "plan only this cluster: NAME or NAMESPACE/NAME; default: those of FILE, else all of the namespace")
	f.StringVarP(&o.namespace, "namespace", "n", "", "namespace; default: that of the current context")
	f.BoolVarP(&o.all, "all-namespaces", "A", false, "plan the clusters of all namespaces")
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "how to reach the API server; default: $KUBECONFIG, ~/.kube/config")
	f.StringVar(&o.journal, "journal", "", "read open operations from this journal file, which nobody may be writing")
	f.StringVar(&o.socket, "socket", "", "ask the operator that listens on this socket for open operations")
	f.StringVar(&o.gateTransport, "gate-transport", o.gateTransport, "how servers are reached: ssh (and exec into pods), or unix:DIR for the sockets DIR/<address>.sock")
	f.StringVar(&o.gateBinary, "gate-binary", "", "program the operator installs as gate; default: the one that is installed")
	f.StringVar(&o.nodeImage, "node-image", "", "image of pods whose GlusterCluster names none, as the operator was started with it")
	f.Var(&o.timeout, "timeout", "give up after this long")
	o.output.AddFlags(f)
	return cmd
}

func (o *options) validate() error {
	switch {
	case o.cluster != "" && o.all:
		return cli.Usagef("--cluster and --all-namespaces are both given: one of them is accepted")
	case o.namespace != "" && o.all:
		return cli.Usagef("--namespace and --all-namespaces are both given: one of them is accepted")
	case o.journal != "" && o.socket != "":
		return cli.Usagef("--journal and --socket are both given: one of them is accepted")
	}
	_, err := manager.ParseTransport(o.gateTransport)
	return err
}

func (o *options) run(ctx context.Context, getenv func(string) string, in io.Reader, out, notes io.Writer) error {
	cfg, err := manager.RestConfig(o.kubeconfig)
	if err != nil {
		return err
	}
	scheme, err := manager.Scheme()
	if err != nil {
		return err
	}
	live, err := client.New(cfg, client.Options{Scheme: scheme})
	if err != nil {
		return fmt.Errorf("reaching the API server: %w", err)
	}
	if o.namespace == "" {
		o.namespace = defaultNamespace(o.kubeconfig)
	}
	transport, err := manager.ParseTransport(o.gateTransport)
	if err != nil {
		return err
	}
	dialer, closeAll := transport.Dialer()
	defer closeAll()
	pods, closePods := transport.Pods(cfg, live)
	defer closePods()
	past, err := o.history(ctx, getenv, notes)
	if err != nil {
		return err
	}
	p := &preview{client: live, past: past, namespace: o.namespace, all: o.all, cluster: o.cluster, notes: notes, digest: o.digest, nodeImage: o.nodeImage,
		observer: func(r client.Reader, digest string) *observe.Observer {
			return &observe.Observer{Roster: &kube.Roster{Cache: r, Live: live, Dialer: dialer, Pods: pods}, Digest: digest,
				Pods: &kube.PodReader{Live: live}, Landscape: &kube.Landscape{Live: live}, Ties: &kube.Ties{Live: live}}
		}}
	if o.file != "" {
		f, err := openFile(o.file, in)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		if p.declared, err = readObjects(f, o.namespace, notes); err != nil {
			return fmt.Errorf("reading %s: %w", o.file, err)
		}
	}
	plans, err := p.plans(ctx)
	if err != nil {
		return err
	}
	return write(out, o.output, getenv, plans)
}

// digest is that of the gate the operator brings along: of --gate-binary, else
// of the one most servers have, else of this program's own.
func (o *options) digest(installed string) (string, error) {
	if o.gateBinary == "" && installed != "" {
		return installed, nil
	}
	g, err := manager.NewGateFile(o.gateBinary)
	if err != nil {
		return "", err
	}
	return g.Digest, nil
}

func openFile(path string, stdin io.Reader) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(stdin), nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, cli.Usagef("-f: %w", err)
	}
	return f, nil
}

func defaultNamespace(kubeconfig string) string {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	ns, _, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{}).Namespace()
	if err != nil || ns == "" {
		return "default"
	}
	return ns
}
