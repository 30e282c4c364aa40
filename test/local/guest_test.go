package local

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gluster/anthill/test/await"
	"github.com/gluster/anthill/test/loop"
)

// TestGuest has a machine of another package, and a process with mounts of its
// own, in an environment that knows nothing else of them.
func TestGuest(t *testing.T) {
	image := filepath.Join(t.TempDir(), "shared.img")
	must(t, loop.MakeXFS(t.Context(), image, 320))
	t.Cleanup(func() { must(t, loop.AwaitFree(context.Background(), filepath.Dir(image), 10*time.Second)) })
	device, err := loop.Hold(image)
	must(t, err)
	cache := t.TempDir()
	must(t, os.WriteFile(filepath.Join(cache, "built"), []byte("x"), 0o600))

	noted := false
	env := bring(t, Config{Instance: "t-guest", Then: func(_ context.Context, e *Env) error {
		noted = true
		return e.SetNote("who", "test")
	}})
	if got, err := Open(env.cfg); !noted || err != nil || got.Note("who") != "test" {
		t.Fatalf("Then ran: %v; Open(): %v", noted, err)
	}
	mounts := []Mounted{{From: device, To: "/tmp/shared", Type: "xfs"}}
	g := env.Guest(GuestSpec{
		Key: "g1", Number: 1, Routes: []string{"route add default via " + env.HostIP()},
		Mounts: append([]Mounted{{From: cache, To: "/opt/cache", ReadOnly: true}}, mounts...),
	})
	must(t, g.Start(testContext(t)))
	for what, argv := range map[string][]string{
		"control groups":      {"ls", "/sys/fs/cgroup"},
		"a folder it is lent": {"cat", "/opt/cache/built"},
		"its routes":          {"ip", "route", "show", "default"},
		"the loop control":    {"test", "-c", "/dev/loop-control"},
	} {
		if out, err := g.Exec(t.Context(), argv...); err != nil || len(out) == 0 && argv[0] != "test" {
			t.Errorf("a guest does not see %s: %q, %v", what, out, err)
		}
	}
	if _, err := g.Exec(t.Context(), "touch", "/opt/cache/new"); err == nil {
		t.Error("a guest can change what it is lent to read")
	}
	if out, err := g.Exec(t.Context(), "findmnt", "-n", "-o", "PROPAGATION", "/"); err != nil || strings.TrimSpace(string(out)) != "shared" {
		t.Errorf("mounts of a guest are %q, %v; want shared, for its containers", out, err)
	}
	must(t, g.AddDevice(device, "/dev/disk/by-id/x"))
	if _, err := g.Exec(t.Context(), "test", "-b", "/dev/disk/by-id/x"); err != nil {
		t.Errorf("a guest does not see its device: %v", err)
	}

	// A component that sees the same file system, where the host has none.
	c := env.Component("toucher")
	must(t, c.Start(t.Context(), []string{"/usr/bin/touch", "/tmp/shared/from-host"}, append([]Mounted{{From: "tmpfs", To: "/tmp", Type: "tmpfs"}}, mounts...)...))
	must(t, await.Until(t.Context(), 10*time.Second, "the guest sees what the component wrote", c.LogFile(), func(ctx context.Context) error {
		_, err := g.Exec(ctx, "stat", "/tmp/shared/from-host")
		return err
	}))
	if _, err := os.Stat("/tmp/shared"); err == nil {
		t.Error("what is mounted for a component is on the host too")
	}
}
