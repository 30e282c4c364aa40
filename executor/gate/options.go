package gate

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"time"
)

// GlusterdDir is where glusterd keeps its state.
const GlusterdDir = "/var/lib/glusterd"

// Options say where a gate finds things. The zero value is a real server;
// tests point the folders elsewhere.
type Options struct {
	StateDir    string   // default StateDir
	GlusterdDir string   // default GlusterdDir
	LogDir      string   // default /var/log/glusterfs
	RunDir      string   // default /run/gluster: brick pid files are below vols/
	PIDFiles    []string // of glusterd, first found counts; default /run/glusterd.pid, /var/run/glusterd.pid
	ProcDir     string   // default /proc: processes and the boot id, not mounts
	Gluster     string   // the gluster command; default: the first in gluster's usual folders
	Exe         string   // the gate's own file, for its digest; default /proc/self/exe
	BinaryDir   string   // what Release removes with the state; default the folder of BinaryPath
	NodeFile    string   // what a pod was told; default NodeFile
	BricksDir   string   // where devices of a pod are mounted; default BricksDir
	ToolDirs    []string // where blkid, wipefs and mkfs.xfs are looked for; default the system's folders
	Env         []string // of children, besides PATH, LC_ALL and HOME

	Now         func() time.Time // default time.Now; stamps receipts
	Resolver    Resolver         // default: Go's own, which honours /etc/hosts and resolv.conf
	RequestWait time.Duration    // how long the request may take to arrive; default 1 min
	StateWait   time.Duration    // how long glusterd may take to tell its state; default 10 s
}

// A Resolver looks names up. Safe for concurrent use.
type Resolver interface {
	LookupHost(ctx context.Context, host string) ([]string, error)
	LookupAddr(ctx context.Context, addr string) ([]string, error)
}

// glusterPaths is where distributions put the command; PATH is not consulted,
// because a login shell's PATH is anybody's.
var glusterPaths = []string{"/usr/sbin/gluster", "/usr/bin/gluster", "/usr/local/sbin/gluster"}

func (o Options) withDefaults() Options {
	set := func(p *string, v string) {
		if *p == "" {
			*p = v
		}
	}
	set(&o.StateDir, StateDir)
	set(&o.GlusterdDir, GlusterdDir)
	set(&o.LogDir, "/var/log/glusterfs")
	set(&o.RunDir, "/run/gluster")
	set(&o.ProcDir, "/proc")
	set(&o.Exe, "/proc/self/exe")
	set(&o.BinaryDir, filepath.Dir(BinaryPath))
	set(&o.NodeFile, NodeFile)
	set(&o.BricksDir, BricksDir)
	if len(o.ToolDirs) == 0 {
		o.ToolDirs = []string{"/usr/sbin", "/sbin", "/usr/bin", "/bin"}
	}
	if len(o.PIDFiles) == 0 {
		o.PIDFiles = []string{"/run/glusterd.pid", "/var/run/glusterd.pid"}
	}
	if o.Gluster == "" {
		for _, p := range glusterPaths {
			if _, err := os.Stat(p); err == nil {
				o.Gluster = p
				break
			}
		}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Resolver == nil {
		o.Resolver = &net.Resolver{PreferGo: true}
	}
	if o.RequestWait == 0 {
		o.RequestWait = time.Minute
	}
	if o.StateWait == 0 {
		o.StateWait = 10 * time.Second
	}
	return o
}
