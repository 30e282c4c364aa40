package manager

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gluster/anthill/cmd/anthill/cli"
)

func TestDefaults(t *testing.T) {
	cases := map[string]struct {
		reason                    string
		env                       map[string]string
		instance, lease, journals string
	}{
		"OutsideOfAPod": {reason: "the installation's namespace names the instance", instance: "anthill-system/anthill-operator", lease: "anthill-system",
			journals: "/var/lib/anthill/operator/journal.db"},
		"InAPod": {reason: "the pod's namespace does", env: map[string]string{"POD_NAMESPACE": "storage", "ANTHILL_JOURNAL": "/j/x.db"},
			instance: "storage/anthill-operator", lease: "storage", journals: "/j/x.db"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := NewOptions(func(k string) string { return tc.env[k] })
			if diff := cmp.Diff([]string{tc.instance, tc.lease, tc.journals}, []string{o.Instance, o.LeaseNamespace, o.Journal}); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if err := o.Validate(); err != nil {
				t.Errorf("the defaults must be valid: %v", err)
			}
			if !o.LeaderElect {
				t.Error("without --leader-elect=false the lease is needed")
			}
		})
	}
}

func TestValidate(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(o *Options)
		want   string // part of the error; empty: valid
	}{
		"RelativeJournal":   {"a relative path depends on where it was started", func(o *Options) { o.Journal = "journal.db" }, "absolute path"},
		"NoInstance":        {"the owner of a pool has a name", func(o *Options) { o.Instance = "" }, "--instance"},
		"InstanceWithSpace": {"it is compared as text and written in annotations", func(o *Options) { o.Instance = "a b" }, "--instance"},
		"LongInstance":      {"the schema's limit", func(o *Options) { o.Instance = strings.Repeat("x", 257) }, "--instance"},
		"TooOften":          {"a resync of nothing is a busy loop", func(o *Options) { o.Resync = 1 }, "--resync"},
		"BadNamespace":      {"not a namespace", func(o *Options) { o.Namespaces = []string{"a", "B"} }, `"B"`},
		"BadLeaseNamespace": {"not a namespace", func(o *Options) { o.LeaseNamespace = "" }, "namespace"},
		"BadAddress":        {"not an address", func(o *Options) { o.MetricsAddress = "8080" }, "--metrics-bind-address"},
		"NoAddress":         {"0 turns it off", func(o *Options) { o.MetricsAddress, o.HealthAddress = "0", "0" }, ""},
		"Unix":              {"sockets of a folder", func(o *Options) { o.GateTransport = "unix:/run/gates" }, ""},
		"RelativeUnix":      {"an absolute folder", func(o *Options) { o.GateTransport = "unix:gates" }, "--gate-transport"},
		"UnknownTransport":  {"only these two", func(o *Options) { o.GateTransport = "telnet" }, "--gate-transport"},
		"NoGate":            {"noticed before servers are", func(o *Options) { o.GateBinary = "/does/not/exist" }, "--gate-binary"},
		"GateIsAFolder":     {"noticed before servers are", func(o *Options) { o.GateBinary = "/" }, "--gate-binary"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := NewOptions(func(string) string { return "" })
			tc.change(o)
			err := o.Validate()
			switch {
			case tc.want == "" && err != nil:
				t.Errorf("%s: %v", tc.reason, err)
			case tc.want == "":
			case err == nil || !strings.Contains(err.Error(), tc.want):
				t.Errorf("%s: got %v, want an error with %q", tc.reason, err, tc.want)
			case cli.CodeOf(err) != cli.Usage || strings.Contains(err.Error(), "\n"):
				t.Errorf("%s: a usage error of one line, got %q (code %d)", tc.reason, err, cli.CodeOf(err))
			}
		})
	}
}
