package image

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDebianHasGluster makes both root file systems, unless they are kept from
// before, and looks into them.
func TestDebianHasGluster(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Fatal("debootstrap makes a root file system: run this test as root")
	}
	for _, suite := range []string{Gluster10, Gluster11} {
		l, err := rootfs{suite: suite, packages: nodePackages}.layer(t.Context(), t.Logf)
		must(t, err)
		f, err := os.Open(l.File)
		must(t, err)
		t.Cleanup(func() { f.Close() })
		want := map[string]bool{"usr/sbin/glusterd": false, "usr/sbin/gluster": false, "usr/sbin/mkfs.xfs": false, "var/lib/glusterd/": false}
		for r := tar.NewReader(f); ; {
			h, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			must(t, err)
			name := strings.TrimPrefix(h.Name, "sbin/") // trixie and bookworm differ in what /sbin is
			if _, ok := want[name]; ok {
				want[name] = true
			}
			if filepath.Base(name) == "glusterd.info" || strings.HasPrefix(name, "usr/share/doc/") && !strings.HasSuffix(name, "/") {
				t.Errorf("%s has %q", suite, name)
			}
		}
		for name, found := range want {
			if !found {
				t.Errorf("%s lacks %q", suite, name)
			}
		}
	}
}
