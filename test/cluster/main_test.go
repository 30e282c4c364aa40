package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/test/await"
	"github.com/gluster/anthill/test/loop"
)

func TestMain(m *testing.M) {
	if verb := os.Getenv(programVariable); verb != "" {
		os.Exit(runProgram(verb))
	}
	goleak.VerifyTestMain(m,
		// client-go keeps connections to API servers that are gone, in a cache of
		// its own, until they have been idle for 90 s.
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"),
		goleak.IgnoreAnyFunction("golang.org/x/net/http2.(*ClientConn).readLoop"),
		goleak.IgnoreAnyFunction("net/http/internal/http2.(*ClientConn).readLoop"),
	)
}

// TestCluster brings up one cluster, does everything to it that tests may do, and
// takes it down.
func TestCluster(t *testing.T) {
	env := bring(t, Config{Instance: "t", Nodes: 3})
	parts := []struct {
		name string
		test func(*testing.T, *Env)
	}{
		{"UpAgainKeepsWhatRuns", testUpAgain},
		{"Gluster", testGluster},
		{"Volume", testVolume},
		{"APIServerKilled", testAPIServerKilled},
		{"Services", testServices},
		{"MovableClaim", testMovableClaim},
		{"Devices", testDevices},
		{"Rights", testRights},
		{"Bounds", testBounds},
		{"NodeCutOff", testNodeCutOff},
		{"KubeletStopped", testKubeletStopped},
		{"NodeKilled", testNodeKilled},
		{"StatusNamesTheCause", testStatus},
		{"ImagesAgain", testImagesAgain},
		{"BothVersions", testVersions},
		{"ForeignCluster", testForeign},
	}
	for _, p := range parts {
		ok := t.Run(p.name, func(t *testing.T) { p.test(t, env) })
		if !ok {
			restore(t, env)
		}
	}
}

// restore makes the cluster whole for the next part.
func restore(t *testing.T, env *Env) {
	t.Helper()
	for _, n := range env.Nodes() {
		if err := n.Restore(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// bring is Up for a test, with what runs taken down at its end.
func bring(t *testing.T, cfg Config) *Env {
	t.Helper()
	needRoot(t)
	t.Setenv(kubeconfigVariable, "")
	cfg.Fresh = true
	cfg.Log = func(line string) { t.Log(line) }
	// Registered before Up, so that a failed one is taken down too.
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
		defer cancel()
		if err := Down(ctx, cfg); err != nil {
			t.Errorf("Down(): %v", err)
		}
		if left := traces(t, cfg); len(left) > 0 {
			t.Errorf("left behind after Down():\n%s", strings.Join(left, "\n"))
		}
	})
	env, err := Up(t.Context(), cfg)
	if err != nil {
		t.Fatalf("Up(): %v", err)
	}
	return env
}

// needRoot fails the test where it cannot mean anything.
func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("this test makes namespaces, mounts and loop devices: run it as root")
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// traces lists everything on this machine that belongs to the cluster of cfg. It
// looks for the names and not into the state file, so that it also finds what no
// state file knows.
func traces(t *testing.T, cfg Config) []string {
	t.Helper()
	cfg, err := cfg.withDefaults()
	must(t, err)
	prefix, err := cfg.local().Hostname("")
	must(t, err)
	prefix = strings.TrimSuffix(prefix, "-")
	id := strings.TrimPrefix(prefix, "ah")
	dir := filepath.Join("/var/lib/anthill-local", id)
	var out []string
	links, err := net.Interfaces()
	must(t, err)
	for _, l := range links {
		if strings.HasPrefix(l.Name, prefix) {
			out = append(out, "link "+l.Name)
		}
	}
	loops, err := loop.Below(dir)
	must(t, err)
	for device, file := range loops {
		out = append(out, "loop "+device+" of "+file)
	}
	groups, err := hostCgroups.named(prefix + "*")
	must(t, err)
	for _, g := range groups {
		out = append(out, "control group "+g)
	}
	processes, err := filepath.Glob("/proc/[0-9]*")
	must(t, err)
	for _, p := range processes {
		command, _ := os.ReadFile(filepath.Join(p, "cmdline"))
		mounts, _ := os.ReadFile(filepath.Join(p, "mountinfo"))
		cgroup, _ := os.ReadFile(filepath.Join(p, "cgroup"))
		if strings.Contains(string(command), id) || strings.Contains(string(mounts), dir+"/") || strings.Contains(string(cgroup), prefix) {
			out = append(out, "process "+filepath.Base(p)+" "+strings.ReplaceAll(string(command), "\x00", " "))
		}
	}
	files, err := filepath.Glob(dir + "*")
	must(t, err)
	for _, f := range files {
		out = append(out, "file "+f)
	}
	if _, err := os.Stat(movableDir); err == nil {
		out = append(out, "folder "+movableDir)
	}
	return out
}

// namespace makes a namespace that goes with the test.
func namespace(t *testing.T, env *Env, name string) string {
	t.Helper()
	_, err := env.Client().CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	must(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		zero := int64(0)
		must(t, env.Client().CoreV1().Namespaces().Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: &zero}))
		must(t, await.Until(ctx, 2*time.Minute, "namespace "+name+" is gone", "", func(ctx context.Context) error {
			if _, err := env.Client().CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{}); err == nil {
				return errors.New("it is there")
			}
			return nil
		}))
	})
	return name
}

// pod makes a pod of the node image on a node, or anywhere when that is nil.
func pod(t *testing.T, env *Env, ns, name string, on *Node, edit func(*corev1.PodSpec), argv ...string) PodRef {
	t.Helper()
	privileged, zero := true, int64(0)
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ns, Labels: map[string]string{"app": ns}},
		Spec: corev1.PodSpec{
			Hostname: name, Subdomain: ns, TerminationGracePeriodSeconds: &zero,
			Containers: []corev1.Container{{
				Name: "main", Image: env.NodeImage(env.cfg.Suites[0]), ImagePullPolicy: corev1.PullNever, Command: argv,
				SecurityContext: &corev1.SecurityContext{Privileged: &privileged},
			}},
		},
	}
	if on != nil {
		p.Spec.NodeSelector = map[string]string{corev1.LabelHostname: on.Name()}
	}
	if edit != nil {
		edit(&p.Spec)
	}
	_, err := env.Client().CoreV1().Pods(ns).Create(t.Context(), p, metav1.CreateOptions{})
	must(t, err)
	return PodRef{Namespace: ns, Pod: name}
}

// runs waits until a pod runs.
func runs(t *testing.T, env *Env, in PodRef) {
	t.Helper()
	must(t, await.Until(t.Context(), 90*time.Second, "pod "+in.String()+" runs", "", func(ctx context.Context) error {
		p, err := env.Client().CoreV1().Pods(in.Namespace).Get(ctx, in.Pod, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if p.Status.Phase != corev1.PodRunning || len(p.Status.ContainerStatuses) == 0 || !p.Status.ContainerStatuses[0].Ready {
			return fmt.Errorf("it is %s: %s %+v", p.Status.Phase, p.Status.Message, p.Status.ContainerStatuses)
		}
		return nil
	}))
}

// sickParts returns what Status says is not healthy.
func sickParts(ctx context.Context, e *Env) []string {
	var out []string
	for _, c := range e.Status(ctx) {
		if !c.Healthy {
			out = append(out, c.Name+": "+c.State)
		}
	}
	return out
}

// programVariable makes the test binary a program of its own that brings a
// cluster up, to be killed in the middle of it.
const programVariable = "ANTHILL_CLUSTER_TEST_PROGRAM"

func runProgram(instance string) int {
	os.Unsetenv(kubeconfigVariable)
	if _, err := Up(context.Background(), Config{Instance: instance, Nodes: 1, KeepFailed: true}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
