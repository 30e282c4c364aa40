package image

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/gluster/anthill/test/atomicfile"
)

// A Layer is a tar file, uncompressed, and its digest, which names it.
type Layer struct {
	File   string
	Digest string // SHA-256 in hex
}

// A File is one file of a layer made of files.
type File struct {
	Path string // in the image, absolute
	From string // on this machine
	Mode fs.FileMode
}

// epoch is the time of all files of a layer: equal content gives equal layers.
var epoch = time.Unix(0, 0)

// digestSuffix is of the file beside a layer that holds its digest.
const digestSuffix = ".sha256"

// LayerOf makes a layer of some files and the folders they lie in.
func LayerOf(file string, files ...File) (Layer, error) {
	return writeLayer(file, func(w *tar.Writer) error {
		folders := map[string]bool{".": true}
		for _, f := range files {
			name := strings.TrimPrefix(f.Path, "/")
			if err := addFolders(w, filepath.Dir(name), folders); err != nil {
				return err
			}
			info, err := os.Stat(f.From)
			if err != nil {
				return err
			}
			h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: int64(f.Mode.Perm()), Size: info.Size(), ModTime: epoch}
			if err := addFile(w, h, f.From); err != nil {
				return err
			}
		}
		return nil
	})
}

// addFolders adds a folder and those above it, unless they are there.
func addFolders(w *tar.Writer, dir string, done map[string]bool) error {
	if done[dir] {
		return nil
	}
	if err := addFolders(w, filepath.Dir(dir), done); err != nil {
		return err
	}
	done[dir] = true
	return w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o755, ModTime: epoch})
}

// layerOfTree makes a layer of all that lies below dir, but for what skip says.
func layerOfTree(file, dir string, skip func(path string, info fs.FileInfo) bool) (Layer, error) {
	return writeLayer(file, func(w *tar.Writer) error {
		links := map[uint64]string{} // hard links: the first name of each inode
		return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			name, err := filepath.Rel(dir, path)
			if err != nil || name == "." {
				return err
			}
			info, err := entry.Info()
			if err != nil {
				return err
			}
			if skip(name, info) {
				if entry.IsDir() {
					return fs.SkipDir
				}
				return nil
			}
			return addEntry(w, path, name, info, links)
		})
	})
}

// addEntry adds one entry of a tree as it is.
func addEntry(w *tar.Writer, path, name string, info fs.FileInfo, links map[uint64]string) error {
	target := ""
	var err error
	if info.Mode()&fs.ModeSymlink != 0 {
		if target, err = os.Readlink(path); err != nil {
			return err
		}
	}
	h, err := tar.FileInfoHeader(info, target)
	if err != nil {
		return err
	}
	h.Name = name
	if info.IsDir() {
		h.Name += "/"
	}
	// Names of users would be looked up where the image is unpacked.
	h.Uname, h.Gname, h.AccessTime, h.ChangeTime = "", "", time.Time{}, time.Time{}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Nlink > 1 && info.Mode().IsRegular() {
		if first, seen := links[st.Ino]; seen {
			h.Typeflag, h.Linkname, h.Size = tar.TypeLink, first, 0
			return w.WriteHeader(h)
		}
		links[st.Ino] = name
	}
	if !info.Mode().IsRegular() {
		return w.WriteHeader(h)
	}
	return addFile(w, h, path)
}

// addFile adds a header and the content of a file.
func addFile(w *tar.Writer, h *tar.Header, from string) error {
	if err := w.WriteHeader(h); err != nil {
		return err
	}
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}

// writeLayer writes a layer's file, and beside it its digest last: a layer
// with a digest is complete.
func writeLayer(file string, fill func(*tar.Writer) error) (Layer, error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return Layer{}, fmt.Errorf("making layer: %w", err)
	}
	sum := sha256.New()
	w := tar.NewWriter(io.MultiWriter(f, sum))
	err = fill(w)
	if err = errors.Join(err, w.Close(), f.Close()); err != nil {
		return Layer{}, fmt.Errorf("making layer %q: %w", file, err)
	}
	l := Layer{File: file, Digest: hex.EncodeToString(sum.Sum(nil))}
	return l, atomicfile.Write(file+digestSuffix, []byte(l.Digest+"\n"), 0o644)
}

// readLayer returns a layer that was written before.
func readLayer(file string) (Layer, error) {
	data, err := os.ReadFile(file + digestSuffix)
	if err != nil {
		return Layer{}, fmt.Errorf("reading layer: %w", err)
	}
	return Layer{File: file, Digest: strings.TrimSpace(string(data))}, nil
}
