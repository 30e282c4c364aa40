package gate

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// asked counts how often find is asked for the fact about a file.
func asked(t *testing.T, g *gate, path string) (value string, times int) {
	t.Helper()
	value, err := g.fact("f", path, func() (string, error) {
		times++
		b, err := os.ReadFile(path)
		return string(b), err
	})
	if err != nil {
		t.Fatal(err)
	}
	return value, times
}

func TestFact(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(t *testing.T, w *world, path string)
		value  string
		asks   int
	}{
		"Unchanged": {"the same file is not looked at again", func(*testing.T, *world, string) {}, "one", 0},
		"Overwritten": {"a file of the same size and time is another one if it was written to", func(t *testing.T, w *world, path string) {
			fi, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			w.write(path, "two")
			if err := os.Chtimes(path, fi.ModTime(), fi.ModTime()); err != nil {
				t.Fatal(err)
			}
		}, "two", 1},
		"Renamed": {"as is one that took its place", func(t *testing.T, w *world, path string) {
			w.write(path+".new", "two")
			if err := os.Rename(path+".new", path); err != nil {
				t.Fatal(err)
			}
		}, "two", 1},
		"Damaged": {"a fact that does not parse is found out again", func(t *testing.T, w *world, _ string) {
			w.write(filepath.Join(w.o.StateDir, "f.fact"), `{"file":`)
		}, "one", 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t).claim()
			w.o.Now = func() time.Time { return time.Now().Add(time.Minute) } // no file is young
			g := &gate{w.o.withDefaults()}
			path := filepath.Join(t.TempDir(), "file")
			w.write(path, "one")
			if v, n := asked(t, g, path); v != "one" || n != 1 {
				t.Fatalf("first %q, asked %d times", v, n)
			}
			tc.change(t, w, path)
			if v, n := asked(t, g, path); v != tc.value || n != tc.asks {
				t.Errorf("%s: %q, asked %d times, want %q and %d", tc.reason, v, n, tc.value, tc.asks)
			}
		})
	}
}

func TestFactOfAYoungFileIsNotKept(t *testing.T) {
	w := newWorld(t).claim()
	g := &gate{w.o.withDefaults()}
	path := filepath.Join(t.TempDir(), "file")
	w.write(path, "one")
	for range 2 {
		if _, n := asked(t, g, path); n != 1 {
			t.Errorf("asked %d times about a file that may change again at the same time", n)
		}
	}
}

func TestFactWithoutStateFolder(t *testing.T) {
	w := newWorld(t)
	w.o.Now = func() time.Time { return time.Now().Add(time.Minute) }
	g := &gate{w.o.withDefaults()}
	path := filepath.Join(t.TempDir(), "file")
	w.write(path, "one")
	if v, n := asked(t, g, path); v != "one" || n != 1 {
		t.Errorf("%q, asked %d times", v, n)
	}
	if _, err := os.Stat(w.o.StateDir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it made a state folder: %v", err)
	}
}

func TestFactThatCannotBeFoundOut(t *testing.T) {
	w := newWorld(t).claim()
	g := &gate{w.o.withDefaults()}
	_, err := g.fact("f", w.o.Exe, func() (string, error) { return "", os.ErrPermission })
	if !errors.Is(err, os.ErrPermission) {
		t.Errorf("%v", err)
	}
}
