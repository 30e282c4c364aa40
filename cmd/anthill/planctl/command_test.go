package planctl

import (
	"io"
	"strings"
	"testing"

	"github.com/gluster/anthill/cmd/anthill/cli"
)

func TestUsage(t *testing.T) {
	cases := map[string]struct {
		args []string
		want string
	}{
		"TwoScopes":     {[]string{"--cluster", "c", "-A"}, "--cluster and --all-namespaces"},
		"TwoNamespaces": {[]string{"-n", "x", "-A"}, "--namespace and --all-namespaces"},
		"TwoJournals":   {[]string{"--journal", "x", "--socket", "y"}, "--journal and --socket"},
		"Transport":     {[]string{"--gate-transport", "telnet"}, "--gate-transport"},
		"Argument":      {[]string{"x"}, `unexpected argument "x"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			cmd := NewCommand(func(string) string { return "" })
			cmd.SilenceErrors, cmd.SilenceUsage = true, true
			cmd.SetArgs(tc.args)
			cmd.SetOut(io.Discard)
			cmd.SetErr(io.Discard)
			err := cmd.ExecuteContext(t.Context())
			if cli.CodeOf(err) != cli.Usage || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want a usage error with %q", err, tc.want)
			}
		})
	}
}
