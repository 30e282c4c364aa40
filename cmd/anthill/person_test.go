package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestPerson(t *testing.T) {
	const config = `
apiVersion: v1
kind: Config
current-context: prod
contexts:
- name: prod
  context: {cluster: c, user: ada@example.org}
`
	kubeconfig := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(kubeconfig, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		plugin bool
		env    map[string]string
		want   string
	}{
		"User":          {reason: "Who is logged in decides.", env: map[string]string{"USER": "ada"}, want: "ada"},
		"Sudo":          {reason: "Root is not a person when sudo knows who it was.", env: map[string]string{"USER": "root", "SUDO_USER": "ada"}, want: "ada"},
		"Plugin":        {reason: "To kubectl a person is the user of the context.", plugin: true, env: map[string]string{"USER": "root", "KUBECONFIG": kubeconfig}, want: "ada@example.org"},
		"PluginWithout": {reason: "Without a context it is who is logged in.", plugin: true, env: map[string]string{"USER": "bob", "KUBECONFIG": kubeconfig + ".not"}, want: "bob"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, k := range []string{"SUDO_USER", "USER", "LOGNAME", "KUBECONFIG"} {
				t.Setenv(k, tc.env[k])
			}
			if got, err := person(tc.plugin); err != nil || got != tc.want {
				t.Errorf("%s: got %q, %v, want %q", tc.reason, got, err, tc.want)
			}
		})
	}
}
