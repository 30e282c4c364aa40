package gluster

import (
	"fmt"
	"strings"
)

// A Brick is one directory of a volume. Bricks are compared by PeerUUID and
// Path, never by Host: one server can have several names (LAB-22).
type Brick struct {
	Host     string
	Path     string
	PeerUUID string // empty where it is not known
	Arbiter  bool
}

// String is "host:/path", as gluster writes it.
func (b Brick) String() string { return b.Host + ":" + b.Path }

// Same reports whether both are the same directory of the same server.
func (b Brick) Same(o Brick) bool {
	return b.PeerUUID != "" && b.PeerUUID == o.PeerUUID && b.Path == o.Path
}

// ParseBrick reads "host:/path". The host may contain colons.
func ParseBrick(s string) (Brick, error) {
	host, path, ok := strings.Cut(s, ":/")
	if !ok || host == "" {
		return Brick{}, fmt.Errorf("brick %q is not host:/path", s)
	}
	return Brick{Host: host, Path: "/" + path}, nil
}
