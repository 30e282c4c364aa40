package ssh

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/gluster/anthill/executor/gate"
)

const pool = "11111111-1111-4111-8111-111111111111"

// A keyPair is a new ed25519 key.
type keyPair struct {
	pem  []byte
	line string // authorized_keys form
	pub  ssh.PublicKey
}

func newKey(t testing.TB) keyPair {
	t.Helper()
	pub, priv, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(priv, "")
	if err != nil {
		t.Fatal(err)
	}
	sp, err := ssh.NewPublicKey(pub)
	if err != nil {
		t.Fatal(err)
	}
	return keyPair{pem.EncodeToMemory(block), strings.TrimSpace(string(ssh.MarshalAuthorizedKey(sp))), sp}
}

// An sshd is a real server with its own keys on a port of its own.
type sshd struct {
	t    testing.TB
	host keyPair
	user keyPair
	port int
}

// newSSHD starts one; the gate's paths are empty then.
func newSSHD(t testing.TB, config ...string) *sshd {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("logging in as root needs root")
	}
	path, err := exec.LookPath("/usr/sbin/sshd")
	if err != nil {
		t.Fatalf("these tests need a real sshd: %v", err)
	}
	for _, d := range []string{"/usr/local/lib/anthill", "/var/lib/anthill", "/root/runs"} {
		if err := os.RemoveAll(d); err != nil {
			t.Fatal(err)
		}
	}
	s := &sshd{t: t, host: newKey(t), user: newKey(t), port: freePort(t)}
	dir := t.TempDir()
	write := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	// Where other users than root can read it.
	authorized := fmt.Sprintf("/run/authorized-%d", s.port)
	if err := os.WriteFile(authorized, []byte("restrict "+s.user.line+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	conf := append(config,
		fmt.Sprintf("ListenAddress 127.0.0.1:%d", s.port),
		"HostKey "+write("host", string(s.host.pem)),
		"AuthorizedKeysFile "+authorized,
		"UsePAM no", "StrictModes no", "UseDNS no", "PidFile none", "PermitRootLogin prohibit-password",
		"PasswordAuthentication no", "KbdInteractiveAuthentication no", "LogLevel ERROR", "MaxStartups 100", "")
	cmd := exec.Command(path, "-D", "-e", "-f", write("conf", strings.Join(conf, "\n")))
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("sshd said: %s", log.String())
		}
	})
	until(t, "sshd to listen", func() bool {
		c, err := net.Dial("tcp", s.addr())
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return s
}

func (s *sshd) addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

func (s *sshd) endpoint() Endpoint {
	return Endpoint{Host: "127.0.0.1", Port: s.port, PrivateKeyPEM: s.user.pem, HostKeys: []string{s.host.line}}
}

func freePort(t testing.TB) int {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().(*net.TCPAddr).Port
}

func until(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for range 3000 {
		if cond() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("waited in vain for %s", what)
}

// newPool returns a pool that ends with the test.
func newPool(t testing.TB, o Options) *Pool {
	t.Helper()
	p := NewPool(o)
	t.Cleanup(p.Close)
	return p
}

func client(s gate.Transport) *gate.Client {
	return gate.NewClient(s, pool, "op-1", func() uint64 { return 1 })
}

// gateFile is what is installed. A benchmark of the gate names the real one.
var gateFile = cmp.Or(os.Getenv("SSH_TEST_GATE"), "/proc/self/exe")

// ready installs the gate and claims the server.
func ready(t testing.TB, s gate.Server) *gate.Client {
	t.Helper()
	b, err := os.ReadFile(gateFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Install(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	c := client(s)
	if _, err := c.Claim(t.Context(), gate.ClaimMode{}); err != nil {
		t.Fatal(err)
	}
	return c
}

func set(do string) []string {
	return []string{"gluster", "--mode=script", "volume", "set", "v1", "user.do", do}
}

func runs() string {
	b, _ := os.ReadFile("/root/runs")
	return string(b)
}

func began(t testing.TB, do string) {
	t.Helper()
	until(t, "the command to begin", func() bool { return strings.Contains(runs(), "begin "+do+"\n") })
}

// A wire is the connections of a pool in the hands of a test.
type wire struct {
	mu    sync.Mutex
	conns []*slowConn
}

// A slowConn passes nothing on while it is stalled.
type slowConn struct {
	net.Conn
	stalled chan struct{} // closed: stalled
	once    sync.Once
	closed  chan struct{}
}

func (w *wire) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	sc := &slowConn{Conn: c, stalled: make(chan struct{}), closed: make(chan struct{})}
	w.mu.Lock()
	w.conns = append(w.conns, sc)
	w.mu.Unlock()
	return sc, nil
}

func (w *wire) last() *slowConn {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.conns[len(w.conns)-1]
}

func (w *wire) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.conns)
}

func (c *slowConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	select {
	case <-c.stalled:
		<-c.closed // what came in a partition never arrives
		return 0, net.ErrClosed
	default:
		return n, err
	}
}

func (c *slowConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}
