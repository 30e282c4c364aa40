package gate

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the scripts
	"fmt"
	"strings"
)

// The scripts are constant and have no single quote; what varies arrives on
// their input. They are the same whatever carries them.
var (
	//go:embed install.sh
	installScript string
	//go:embed installing.sh
	installingScript string
)

// InstallArgv runs the installer: it puts the gate that InstallInput brings to
// BinaryPath and makes StateDir, both by root. The file is complete and synced
// before it gets its name; an upload that breaks off leaves nothing, as soon as
// the server has noticed.
func InstallArgv() []string { return []string{"/bin/sh", "-c", installScript} }

// InstallingArgv asks whether an installation is under way.
func InstallingArgv() []string { return []string{"/bin/sh", "-c", installingScript} }

// ShellLine is one of the constant argv for a login shell, of whatever kind.
func ShellLine(argv []string) string {
	return "exec " + strings.Join(argv[:len(argv)-1], " ") + " '" + argv[len(argv)-1] + "'"
}

// InstallInput is what the installer reads: the digest and the gate.
func InstallInput(binary []byte) []byte {
	return append(fmt.Appendf(nil, "%x\n", sha256.Sum256(binary)), binary...)
}

// InstalledIn reports whether the installer's output says that it is through.
func InstalledIn(stdout []byte) bool { return bytes.Contains(stdout, []byte("anthill-gate-installed")) }

// InstallingIn reads the answer to InstallingArgv; ok is false if there is none.
func InstallingIn(stdout []byte) (underWay, ok bool) {
	underWay = bytes.Contains(stdout, []byte("anthill-gate-under-way"))
	return underWay, underWay || bytes.Contains(stdout, []byte("anthill-gate-at-rest"))
}

// CheckBinary says why a program cannot be installed as the gate; nothing was
// done yet.
func CheckBinary(binary []byte) error {
	if len(binary) == 0 || len(binary) > BinaryBytesMax {
		return fmt.Errorf("%w: %d bytes are not within 1 and %d", ErrNotStarted, len(binary), BinaryBytesMax)
	}
	return nil
}

// An InstallError: the installer ran on the server and failed.
type InstallError struct {
	Addr string
	Exit int
	Text string // the installer's own last line
}

func (e *InstallError) Error() string {
	return fmt.Sprintf("installing the gate on %s: %s (exit %d)", e.Addr, e.Text, e.Exit)
}

// LastLine is the last line of an error output, bounded, for a message.
func LastLine(stderr []byte) string {
	lines := strings.Split(strings.TrimSpace(string(stderr)), "\n")
	line := strings.Join(strings.Fields(lines[len(lines)-1]), " ")
	if len(line) > 200 {
		line = line[:200] + "..."
	}
	return line
}
