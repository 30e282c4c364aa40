package local

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWithDefaults(t *testing.T) {
	cases := map[string]struct {
		reason string
		cfg    Config
		want   string // part of the error; empty for none
	}{
		"Nothing":        {reason: "an environment without servers and without API server is allowed", cfg: Config{}},
		"Instance":       {reason: "an instance is a plain word", cfg: Config{Instance: "e2e-1"}},
		"InstanceSlash":  {reason: "an instance must not change paths", cfg: Config{Instance: "../x"}, want: "instance"},
		"InstanceLong":   {reason: "an instance is short", cfg: Config{Instance: strings.Repeat("a", 22)}, want: "instance"},
		"TooManyServers": {reason: "addresses from 101 are the clients'", cfg: Config{Servers: ServersMax + 1}, want: "servers"},
		"TooManyBricks":  {reason: "loop devices are few", cfg: Config{Bricks: BricksMax + 1}, want: "bricks per server"},
		"SmallBricks":    {reason: "mkfs.xfs refuses them", cfg: Config{BrickMiB: 100}, want: "at least"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := tc.cfg.withDefaults()
			if tc.want != "" {
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("%s: error %v, want one about %q", tc.reason, err, tc.want)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if got.Checkout == "" || got.Bricks != 2 || got.BrickMiB != BrickSizeMiB || got.Log == nil {
				t.Errorf("%s: incomplete: %+v", tc.reason, got)
			}
		})
	}
}

func TestIDTellsEnvironmentsApart(t *testing.T) {
	seen := map[string]Config{}
	for _, c := range []Config{
		{Checkout: "/a"}, {Checkout: "/b"}, {Checkout: "/a", Instance: "x"}, {Checkout: "/a", Instance: "y"}, {Checkout: "/ax"},
	} {
		id := c.id()
		if other, taken := seen[id]; taken || len(id) != 6 {
			t.Errorf("id of %+v is %q, as that of %+v", c, id, other)
		}
		seen[id] = c
		if got := (Config{Checkout: c.Checkout, Instance: c.Instance, Servers: 9}).id(); got != id {
			t.Errorf("id depends on more than checkout and instance: %q and %q", got, id)
		}
	}
}

func TestFindCheckout(t *testing.T) {
	root := t.TempDir()
	inner := filepath.Join(root, "test", "local")
	must(t, os.MkdirAll(inner, 0o755))
	must(t, os.WriteFile(filepath.Join(root, "go.mod"), []byte("// c\nmodule "+modulePath+"\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(root, "test", "go.mod"), []byte("module "+modulePath+"/test\n"), 0o600))
	got, err := findCheckout(inner)
	if diff := cmp.Diff(root, got); diff != "" || err != nil {
		t.Errorf("from a folder of the tests' own module (-want +got), %v:\n%s", err, diff)
	}
	if _, err := findCheckout(t.TempDir()); !errors.Is(err, errNoCheckout) {
		t.Errorf("from outside: %v, want %v", err, errNoCheckout)
	}
}
