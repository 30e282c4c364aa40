package node

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAddMissing(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "groups")
	write := func(dir, name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(from, "virt", "performance.quick-read=off\n")
	write(from, "samba", "cache-samba-metadata=on\n")
	write(from, "huge", string(make([]byte, groupMax+1)))
	if err := os.Mkdir(filepath.Join(from, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := addMissing(from, to); err != nil {
		t.Fatal(err)
	}
	write(to, "virt", "altered\n")
	if err := os.Remove(filepath.Join(to, "samba")); err != nil {
		t.Fatal(err)
	}
	if err := addMissing(from, to); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	files, err := os.ReadDir(to)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(to, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got[f.Name()] = string(data)
	}
	if len(got) != 2 || got["virt"] != "altered\n" || got["samba"] != "cache-samba-metadata=on\n" {
		t.Errorf("there are %q", got)
	}
	if err := addMissing(filepath.Join(from, "none"), to); err != nil {
		t.Errorf("an image without groups: %v", err)
	}
}
