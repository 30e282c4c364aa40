package local

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/gluster/anthill/test/await"
	"github.com/gluster/anthill/test/local/writer"
	"github.com/gluster/anthill/test/loop"
)

// dialMax is how long a connection to a live server may take at most, and a
// dead one is given.
const dialMax = 2 * time.Second

// TestServers goes through what tests of the operator do to servers, on one
// environment, in order.
func TestServers(t *testing.T) {
	v := servers{ctx: testContext(t), env: bring(t, Config{Instance: "t-servers", Servers: 4})}
	_ = t.Run("TheHostIsOutOfReach", v.hostIsOutOfReach) &&
		t.Run("SSH", v.ssh) &&
		t.Run("PeersByName", v.peersByName) &&
		t.Run("VolumeUnderAWriter", v.volumeUnderAWriter) &&
		t.Run("Cut", v.cutAndHeal) &&
		t.Run("PausedGlusterd", v.pausedGlusterd) &&
		t.Run("BrickUnmounted", v.brickUnmounted) &&
		t.Run("ForeignState", v.foreignState)
}

// servers is an environment that the parts of a test share.
type servers struct {
	ctx context.Context // one test's, shared by its parts
	env *Env
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (v servers) hostIsOutOfReach(t *testing.T) {
	ctx, env := v.ctx, v.env
	s1, s2 := env.Server(1), env.Server(2)
	for _, dir := range []string{"/", "/etc", "/root", "/tmp", "/usr/local/lib", "/var/lib", s1.Bricks()[0]} {
		path := filepath.Join(dir, "marker-"+env.ID())
		_, err := s1.Exec(ctx, "mkdir", path)
		must(t, err)
		for _, elsewhere := range []string{path, s2.Path(path)} {
			if _, err := os.Lstat(elsewhere); err == nil {
				t.Errorf("%q exists outside of %s", elsewhere, s1.Name())
			}
		}
	}
	var exit *ExitError
	if _, err := s1.Exec(ctx, "touch", "/usr/bin/anthill-test"); !errors.As(err, &exit) || exit.Code != 1 {
		t.Errorf("writing to /usr on a server: %v, want exit code 1", err)
	}
	if _, err := os.Lstat(s1.Path("/dev/" + filepath.Base(hostDisk(t)))); err == nil {
		t.Error("a server has the device of the host's root file system")
	}
}

// hostDisk is some block device of the host that is no loop device.
func hostDisk(t *testing.T) string {
	t.Helper()
	disks, err := filepath.Glob("/sys/block/*")
	must(t, err)
	for _, d := range disks {
		if !strings.HasPrefix(filepath.Base(d), "loop") {
			return d
		}
	}
	t.Log("this host has no disk to be protected")
	return "none"
}

func (v servers) ssh(t *testing.T) {
	env := v.env
	s := env.Server(1)
	key, err := env.SSHKey()
	must(t, err)
	signer, err := ssh.ParsePrivateKey(key)
	must(t, err)
	line, err := s.HostKey()
	must(t, err)
	hostKey, _, _, _, err := ssh.ParseAuthorizedKey([]byte(line))
	must(t, err)
	client, err := ssh.Dial("tcp", net.JoinHostPort(s.IP(), "22"), &ssh.ClientConfig{
		User: "root", Auth: []ssh.AuthMethod{ssh.PublicKeys(signer)},
		HostKeyCallback: ssh.FixedHostKey(hostKey), Timeout: dialMax,
	})
	must(t, err)
	defer client.Close()
	session, err := client.NewSession()
	must(t, err)
	out, err := session.Output("hostname")
	if err != nil || strings.TrimSpace(string(out)) != s.Name() {
		t.Errorf("hostname over ssh: %q, %v; want %q", out, err, s.Name())
	}
	if n, err := s.KillSSHSessions(); err != nil || n == 0 {
		t.Errorf("KillSSHSessions() = %d, %v; want at least the one process of this connection", n, err)
	}
	if err := client.Wait(); err == nil {
		t.Error("the connection ended in order, want it broken")
	}
}

func (v servers) peersByName(t *testing.T) {
	ctx, env := v.ctx, v.env
	for _, n := range []int{2, 3} {
		_, err := env.Server(1).Gluster(ctx, "peer", "probe", env.Server(n).Name())
		must(t, err)
	}
	must(t, await.Until(ctx, 30*time.Second, "s3 sees both peers connected", "", func(ctx context.Context) error {
		out, err := env.Server(3).Gluster(ctx, "pool", "list")
		if err == nil && strings.Count(string(out), "Connected") != 3 {
			err = errors.New(string(out))
		}
		return err
	}))
	out, err := env.Server(3).Gluster(ctx, "pool", "list")
	must(t, err)
	for _, n := range []int{1, 2} {
		if !strings.Contains(string(out), env.Server(n).Name()) {
			t.Errorf("the pool as s3 sees it has no name of s%d:\n%s", n, out)
		}
	}
}

func (v servers) volumeUnderAWriter(t *testing.T) {
	ctx, env := v.ctx, v.env
	argv := []string{"volume", "create", "v1", "replica", "3"}
	for n := 1; n <= 3; n++ {
		argv = append(argv, env.Server(n).Name()+":"+env.Server(n).Bricks()[0]+"/brick")
	}
	_, err := env.Server(1).Gluster(ctx, argv...)
	must(t, err)
	_, err = env.Server(1).Gluster(ctx, "volume", "start", "v1")
	must(t, err)
	m, err := env.Mount(ctx, "v1")
	must(t, err)
	must(t, m.StartWriter(ctx, writer.Config{Files: 20, BytesMax: 64 << 10, Seed: 1}))
	if err := m.StartWriter(ctx, writer.Config{}); err == nil {
		t.Error("a second writer on one mount was started")
	}
	progress(ctx, t, m)

	s2 := env.Server(2)
	must(t, s2.Kill(ctx))
	if loops, err := loop.Below(s2.Dir()); err != nil || len(loops) > 0 {
		t.Errorf("a killed server holds %v, %v", loops, err)
	}
	progress(ctx, t, m)
	must(t, s2.Start(ctx))
	progress(ctx, t, m)

	r, err := m.StopWriter(ctx)
	must(t, err)
	if p := r.Problem(); p != "" {
		t.Errorf("the writer saw: %s", p)
	}
	if err := r.Verify(filepath.Join(m.Dir(), "writer")); err != nil {
		t.Errorf("read from the host: %v", err)
	}
	if got := sick(ctx, env); len(got) > 0 {
		t.Errorf("unhealthy: %q", got)
	}
	dir := m.Machine.Dir()
	must(t, m.Unmount(ctx))
	if _, err := os.Stat(dir); err == nil || len(env.Mounts()) > 0 {
		t.Errorf("after Unmount() there is %q and mounts %v", dir, env.Mounts())
	}
}

// progress waits until the writer has written and read ten files more.
func progress(ctx context.Context, t *testing.T, m *Mount) {
	t.Helper()
	before, err := m.WriterReport()
	must(t, err)
	must(t, await.Until(ctx, time.Minute, "the writer gets on", "", func(context.Context) error {
		r, err := m.WriterReport()
		if err == nil && (r.Written < before.Written+10 || r.Read < before.Read+10) {
			err = errors.New("not yet")
		}
		return err
	}))
}

func (v servers) cutAndHeal(t *testing.T) {
	ctx, env := v.ctx, v.env
	s := env.Server(4)
	reach := func() error {
		conn, err := net.DialTimeout("tcp", net.JoinHostPort(s.IP(), "22"), dialMax)
		if err == nil {
			conn.Close()
		}
		return err
	}
	must(t, reach())
	must(t, s.Cut(ctx))
	if err := reach(); err == nil {
		t.Error("a server that is cut off accepts a connection")
	}
	// Still alive inside, and silent: no carrier lost, no address gone.
	if out, err := s.Exec(ctx, "ip", "-brief", "link", "show", "eth0"); err != nil || !strings.Contains(string(out), "LOWER_UP") {
		t.Errorf("the link of a server that is cut off: %q, %v; want it up", out, err)
	}
	must(t, s.Heal(ctx))
	must(t, await.Until(ctx, 30*time.Second, "s4 is reached again", "", func(context.Context) error { return reach() }))
}

func (v servers) pausedGlusterd(t *testing.T) {
	ctx, env := v.ctx, v.env
	s := env.Server(4)
	must(t, s.PauseGlusterd())
	if _, err := s.Gluster(ctx, "--timeout=2", "pool", "list"); err == nil {
		t.Error("a stopped glusterd answers")
	}
	must(t, s.ResumeGlusterd())
	must(t, s.AwaitGlusterd(ctx))
	must(t, s.KillGlusterd(ctx))
	must(t, s.StartGlusterd(ctx))
	must(t, s.StopSSH(ctx))
	if got := sick(ctx, env); len(got) != 1 || !strings.Contains(got[0], "sshd") {
		t.Errorf("Status() says %q, want that sshd is down", got)
	}
	must(t, s.StartSSH(ctx))
}

func (v servers) brickUnmounted(t *testing.T) {
	ctx, env := v.ctx, v.env
	s := env.Server(4)
	below := filepath.Join(s.Bricks()[1], "on-the-disk")
	_, err := s.Exec(ctx, "mkdir", below)
	must(t, err)
	must(t, s.UnmountBrick(ctx, 2))
	if _, err := os.Stat(s.Path(below)); err == nil {
		t.Error("an unmounted brick file system still shows its files")
	}
	if out, err := s.Exec(ctx, "stat", "-c", "%d", "/", s.Bricks()[1]); err != nil || !sameLines(string(out)) {
		t.Errorf("devices of / and an unmounted brick directory: %q, %v; want one device", out, err)
	}
	must(t, s.MountBrick(ctx, 2))
	if _, err := os.Stat(s.Path(below)); err != nil {
		t.Errorf("a remounted brick file system: %v", err)
	}
}

func sameLines(text string) bool {
	lines := strings.Fields(text)
	return len(lines) == 2 && lines[0] == lines[1]
}

func (v servers) foreignState(t *testing.T) {
	ctx, env := v.ctx, v.env
	const uuid = "6a2f0a52-6f0c-4b5e-9d4a-0d8a5be0c9f1"
	s := env.Server(4)
	must(t, s.SeedUUID(ctx, uuid))
	must(t, s.SeedPeer(ctx, "0d0f64b2-4f0e-4c86-9e9f-7d0d7a6a4f11", "elsewhere"))
	out, err := s.Gluster(ctx, "pool", "list")
	if err != nil || !strings.Contains(string(out), uuid) || !strings.Contains(string(out), "elsewhere") {
		t.Errorf("pool list of a seeded server: %v:\n%s\nwant its own UUID %s and a peer named elsewhere", err, out, uuid)
	}
	before, err := s.HostKey()
	must(t, err)
	must(t, s.Kill(ctx))
	must(t, s.Wipe(ctx))
	must(t, s.Start(ctx))
	out, err = s.Gluster(ctx, "pool", "list")
	if err != nil || strings.Contains(string(out), uuid) || strings.Contains(string(out), "elsewhere") {
		t.Errorf("pool list of a wiped server: %v:\n%s\nwant neither UUID nor peer of before", err, out)
	}
	if after, err := s.HostKey(); err != nil || after != before {
		t.Errorf("the host key of a wiped server: %q, %v; want it kept", after, err)
	}
	if out, err := s.Exec(ctx, "getent", "hosts", env.Server(1).Name()); err != nil || !strings.Contains(string(out), env.Server(1).IP()) {
		t.Errorf("a wiped server resolves %s to %q, %v; want %s", env.Server(1).Name(), out, err, env.Server(1).IP())
	}
}
