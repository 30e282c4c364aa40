package gate

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestPythonEndsAtOnce runs a Python program in the environment of a child, as
// the gluster command does.
func TestPythonEndsAtOnce(t *testing.T) {
	w := newWorld(t).claim()
	g := &gate{w.o.withDefaults()}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no Python on this machine, so gluster has nothing to wait for")
	}
	run := func(env ...string) string {
		cmd := exec.Command(python, "-c", "print('gsyncd.py 4.0.0')")
		cmd.Env = append([]string{"PATH=/usr/bin:/bin"}, env...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	if got := run(); got == "" {
		t.Error("Python prints nothing in any case: this test shows nothing")
	}
	if got := run(g.childEnv()...); got != "" {
		t.Errorf("the program ran, or its end was noisy: %q", got)
	}
	// What an older gate, or a crash, left there is replaced.
	path := filepath.Join(g.pythonDir(), "sitecustomize.py")
	w.write(path, "print('old')\n")
	if err := g.makeStateDir(); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != noGeoRep {
		t.Errorf("%q, %v", b, err)
	}
}
