package image

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// entries lists a tar file: name, type, mode, and content or target.
func entries(t *testing.T, data []byte) []string {
	t.Helper()
	var out []string
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		must(t, err)
		body, err := io.ReadAll(r)
		must(t, err)
		out = append(out, h.FileInfo().Mode().String()+" "+h.Name+" "+h.Linkname+string(body))
	}
}

func TestLayerOfFilesDependsOnContentOnly(t *testing.T) {
	dir := t.TempDir()
	from := filepath.Join(dir, "from")
	must(t, os.WriteFile(from, []byte("text"), 0o600))
	layer := func(name string) Layer {
		l, err := LayerOf(filepath.Join(dir, name), File{Path: "/usr/bin/a", From: from, Mode: 0o755}, File{Path: "/usr/bin/b", From: from, Mode: 0o644})
		must(t, err)
		return l
	}
	first := layer("1.tar")
	must(t, os.Chtimes(from, time.Unix(1e9, 0), time.Unix(1e9, 0)))
	second := layer("2.tar")
	if first.Digest != second.Digest {
		t.Errorf("equal content has digests %s and %s", first.Digest, second.Digest)
	}
	data, err := os.ReadFile(first.File)
	must(t, err)
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != first.Digest {
		t.Errorf("digest %s, the file has %x", first.Digest, sum)
	}
	want := []string{"drwxr-xr-x usr/ ", "drwxr-xr-x usr/bin/ ", "-rwxr-xr-x usr/bin/a text", "-rw-r--r-- usr/bin/b text"}
	if diff := cmp.Diff(want, entries(t, data)); diff != "" {
		t.Errorf("layer (-want +got):\n%s", diff)
	}
	read, err := readLayer(first.File)
	must(t, err)
	if read != first {
		t.Errorf("read back %+v, want %+v", read, first)
	}
}

func TestLayerOfTreeKeepsKinds(t *testing.T) {
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "layer.tar")
	must(t, os.MkdirAll(filepath.Join(dir, "usr/share/doc/x"), 0o755))
	must(t, os.MkdirAll(filepath.Join(dir, "var/log/glusterfs"), 0o755))
	must(t, os.MkdirAll(filepath.Join(dir, "var/lib/glusterd"), 0o755))
	must(t, os.WriteFile(filepath.Join(dir, "var/lib/glusterd/glusterd.info"), []byte("UUID=1"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "var/log/glusterfs/old.log"), []byte("x"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "usr/a"), []byte("text"), 0o600))
	must(t, os.Chmod(filepath.Join(dir, "usr/a"), 0o755|fs.ModeSetuid))
	must(t, os.Link(filepath.Join(dir, "usr/a"), filepath.Join(dir, "usr/b")))
	must(t, os.Symlink("usr/a", filepath.Join(dir, "link")))
	_, err := layerOfTree(file, dir, leftOut)
	must(t, err)
	data, err := os.ReadFile(file)
	must(t, err)
	want := []string{
		"Lrwxrwxrwx link usr/a", "drwxr-xr-x usr/ ", "urwxr-xr-x usr/a text", "urwxr-xr-x usr/b usr/a",
		"drwxr-xr-x usr/share/ ", "drwxr-xr-x usr/share/doc/ ",
		"drwxr-xr-x var/ ", "drwxr-xr-x var/lib/ ", "drwxr-xr-x var/lib/glusterd/ ",
		"drwxr-xr-x var/log/ ", "drwxr-xr-x var/log/glusterfs/ ",
	}
	if diff := cmp.Diff(want, entries(t, data)); diff != "" {
		t.Errorf("layer (-want +got):\n%s", diff)
	}
}

func TestArchiveHasWhatItsManifestNames(t *testing.T) {
	dir := t.TempDir()
	from := filepath.Join(dir, "from")
	must(t, os.WriteFile(from, []byte("text"), 0o600))
	l, err := LayerOf(filepath.Join(dir, "l.tar"), File{Path: "/a", From: from, Mode: 0o755})
	must(t, err)
	i := Image{Name: "localhost/x:1", Layers: []Layer{l}, Entrypoint: []string{"/a"}, User: "1:1"}
	var out bytes.Buffer
	must(t, i.WriteArchive(&out))
	files := map[string][]byte{}
	for r := tar.NewReader(&out); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		must(t, err)
		files[h.Name], err = io.ReadAll(r)
		must(t, err)
	}
	var manifest []struct {
		Config   string
		RepoTags []string
		Layers   []string
	}
	must(t, json.Unmarshal(files["manifest.json"], &manifest))
	if len(manifest) != 1 || manifest[0].RepoTags[0] != i.Name {
		t.Fatalf("manifest %s", files["manifest.json"])
	}
	var c configuration
	must(t, json.Unmarshal(files[manifest[0].Config], &c))
	for n, name := range manifest[0].Layers {
		if sum := sha256.Sum256(files[name]); "sha256:"+hex.EncodeToString(sum[:]) != c.RootFS.DiffIDs[n] {
			t.Errorf("layer %q has digest %x, the configuration says %s", name, sum, c.RootFS.DiffIDs[n])
		}
	}
	if id, err := i.ID(); err != nil || id+".json" != manifest[0].Config {
		t.Errorf("ID() = %q, %v; the manifest has %q", id, err, manifest[0].Config)
	}
}
