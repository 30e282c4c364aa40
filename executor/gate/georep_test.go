package gate

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestPythonEndsAtOnce runs a Python program in the environment of a child, as
// the gluster command does: with all our files, and with each of them alone.
func TestPythonEndsAtOnce(t *testing.T) {
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
	for _, without := range append([]string{""}, noGeoRepFiles...) {
		w := newWorld(t).claim()
		g := &gate{w.o.withDefaults()}
		if without != "" {
			if err := os.Remove(filepath.Join(g.pythonDir(), without)); err != nil {
				t.Fatal(err)
			}
		}
		if got := run(g.childEnv()...); got != "" {
			t.Errorf("without %q the program ran, or its end was noisy: %q", without, got)
		}
	}
}

func TestPythonDirIsMadeAnew(t *testing.T) {
	w := newWorld(t).claim()
	g := &gate{w.o.withDefaults()}
	// What an older gate, or a crash, left there is replaced.
	w.write(filepath.Join(g.pythonDir(), noGeoRepFiles[1]), "print('old')\n")
	if err := os.RemoveAll(filepath.Join(g.pythonDir(), noGeoRepFiles[0])); err != nil {
		t.Fatal(err)
	}
	if err := g.makeStateDir(); err != nil {
		t.Fatal(err)
	}
	for _, name := range noGeoRepFiles {
		if b, err := os.ReadFile(filepath.Join(g.pythonDir(), name)); err != nil || string(b) != noGeoRep {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
}
