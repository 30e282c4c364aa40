package local

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gluster/anthill/test/atomicfile"
)

// rootFolders are the folders of a machine's root file system. The two paths of
// the gate are not among them: on a real server they do not exist either.
var rootFolders = []struct {
	path string
	mode os.FileMode
}{
	{"dev", 0o755}, {"etc", 0o755}, {"etc/ssh", 0o755}, {"mnt", 0o755}, {"proc", 0o555},
	{"root", 0o700}, {"run", 0o755}, {"sys", 0o555}, {"tmp", 0o1777}, {"usr", 0o755},
	{"var/lib", 0o755}, {"var/log/glusterfs", 0o755}, {"var/tmp", 0o1777},
}

// etcCopied is what of the host's /etc a machine gets a copy of: enough for
// glusterd, its hook scripts, sshd and a shell, and nothing secret.
var etcCopied = []string{
	"alternatives", "bash.bashrc", "debian_version", "fuse.conf", "gai.conf", "glusterfs", "group",
	"host.conf", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "nsswitch.conf",
	"os-release", "passwd", "profile", "protocols", "rpc", "services", "ssl/openssl.cnf", "xattr.conf",
}

// glusterdSeeds is what Debian's package puts into glusterd's working folder.
var glusterdSeeds = []string{"groups", "hooks"}

// makeRoot makes a machine's root file system below dir, unless it is there.
func makeRoot(dir, hostname string) error {
	if _, err := os.Stat(filepath.Join(dir, "etc/hostname")); err == nil {
		return nil
	}
	for _, f := range rootFolders {
		path := filepath.Join(dir, f.path)
		if err := os.MkdirAll(path, 0o755); err != nil {
			return fmt.Errorf("making the root of %q: %w", hostname, err)
		}
		// Chmod, as mkdir is subject to the umask.
		if err := os.Chmod(path, f.mode|sticky(f.mode)); err != nil {
			return fmt.Errorf("making the root of %q: %w", hostname, err)
		}
	}
	for _, name := range etcCopied {
		if err := copyTree(filepath.Join("/etc", name), filepath.Join(dir, "etc", name)); err != nil {
			return fmt.Errorf("making the root of %q: %w", hostname, err)
		}
	}
	for _, name := range glusterdSeeds {
		from := filepath.Join("/var/lib/glusterd", name)
		if err := copyTree(from, filepath.Join(dir, "var/lib/glusterd", name)); err != nil {
			return fmt.Errorf("making the root of %q: %w", hostname, err)
		}
	}
	machineID := make([]byte, 16)
	if _, err := rand.Read(machineID); err != nil {
		return err
	}
	links := map[string]string{"etc/mtab": "../proc/self/mounts", "var/run": "/run", "var/lock": "/run/lock"}
	files := map[string]string{
		// A locked password ("!") makes an sshd without PAM refuse the key as well.
		"etc/shadow":      "root:*:19000:0:99999:7:::\n",
		"etc/resolv.conf": "", // no name server: a name is in the hosts file or unknown
		"etc/machine-id":  hex.EncodeToString(machineID) + "\n",
		"etc/hostname":    hostname + "\n", // last: says that the root is complete
	}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("making the root of %q: %w", hostname, err)
		}
	}
	for _, name := range []string{"etc/shadow", "etc/resolv.conf", "etc/machine-id", "etc/hostname"} {
		mode := os.FileMode(0o644)
		if name == "etc/shadow" {
			mode = 0o600
		}
		if err := atomicfile.Write(filepath.Join(dir, name), []byte(files[name]), mode); err != nil {
			return fmt.Errorf("making the root of %q: %w", hostname, err)
		}
	}
	return nil
}

// sticky translates the octal sticky bit to Go's.
func sticky(mode os.FileMode) os.FileMode {
	if mode&0o1000 != 0 {
		return os.ModeSticky
	}
	return 0
}

// copyTree copies files, folders and symbolic links with their modes. What does
// not exist is left out: distributions differ.
func copyTree(from, to string) error {
	info, err := os.Lstat(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	switch {
	case info.IsDir():
		entries, err := os.ReadDir(from)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(to, info.Mode().Perm()); err != nil {
			return err
		}
		for _, e := range entries {
			if err := copyTree(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
				return err
			}
		}
		return nil
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		if err := os.Symlink(target, to); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		return nil
	case info.Mode().IsRegular():
		return copyFile(from, to, info.Mode().Perm())
	default:
		return nil // sockets and the like mean nothing in a copy
	}
}

func copyFile(from, to string, mode os.FileMode) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
