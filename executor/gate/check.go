package gate

import (
	"path"
	"strings"
	"time"
)

// checkRequest refuses a request that no state of the server could make good.
func checkRequest(req Request) error {
	bad := func(format string, args ...any) error {
		return refusef(ExitUsage, ReasonUsage, format, args...)
	}
	switch req.Verb {
	case Claim, Release, Run, MakeBrick, Drop, Retire, Reclaim, Register, FormatDevice, MountDevice:
		if !word(req.Pool, 64) || !clean(req.Instance, 256) || req.Fence == 0 {
			return bad("%s needs a pool, an instance and a fence", req.Verb)
		}
	}
	switch req.Verb {
	case Run, MakeBrick, Drop, Retire, Reclaim, Register, FormatDevice, MountDevice, GetRecv:
		if !word(req.Attempt, 128) {
			return bad("%s needs an attempt of at most 128 letters, digits, dots, dashes and underscores", req.Verb)
		}
	}
	if req.Deadline < 0 || req.Deadline > DeadlineMax {
		return bad("deadline %v is not within 0 and %v", req.Deadline, DeadlineMax)
	}
	if req.LockWait < 0 || req.LockWait > DeadlineMax {
		return bad("lock wait %v is not within 0 and %v", req.LockWait, DeadlineMax)
	}
	if len(req.Dirs) > DirsMax || len(req.Names) > NamesMax {
		return bad("at most %d directories and %d names", DirsMax, NamesMax)
	}
	if req.Verb == Register && len(req.Dirs) == 0 {
		return bad("%s needs directories", req.Verb)
	}
	for _, d := range req.Dirs {
		if !absolute(d) {
			return bad("directory %q is not a clean absolute path", d)
		}
	}
	if err := checkDevice(req, bad); err != nil {
		return err
	}
	return checkBrick(req, bad)
}

func checkDevice(req Request, bad func(string, ...any) error) error {
	switch req.Verb {
	case FormatDevice, MountDevice:
	default:
		return nil
	}
	if req.Device == nil || !word(req.Device.Name, 64) || !isUUID(req.Device.UUID) {
		return bad("%s needs the name of a device and the UUID of its file system", req.Verb)
	}
	return nil
}

func checkBrick(req Request, bad func(string, ...any) error) error {
	switch req.Verb {
	case MakeBrick, Drop, Retire, Reclaim, Inspect:
	default:
		return nil
	}
	b := req.Brick
	if b == nil {
		return bad("%s needs a brick path", req.Verb)
	}
	if !absolute(b.Root) {
		return bad("root %q is not a clean absolute path", b.Root)
	}
	if !word(b.Volume, 128) {
		return bad("volume %q is not a single path element", b.Volume)
	}
	leafNeeded := req.Verb == MakeBrick || req.Verb == Drop || req.Verb == Reclaim
	switch {
	case b.Leaf == "" && leafNeeded:
		return bad("%s needs a leaf", req.Verb)
	case b.Leaf != "" && req.Verb == Retire:
		return bad("%s takes a whole volume, not leaf %q", req.Verb, b.Leaf)
	case b.Leaf != "" && !word(b.Leaf, 128):
		return bad("leaf %q is not a single path element", b.Leaf)
	}
	if req.Verb == Reclaim && !isUUID(req.VolumeID) {
		return bad("%s needs the volume id that was found", req.Verb)
	}
	return nil
}

// word: a name that is safe as one path element, never hidden, never an option.
func word(s string, max int) bool {
	if s == "" || len(s) > max || s[0] == '.' || s[0] == '-' {
		return false
	}
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '.':
		default:
			return false
		}
	}
	return true
}

// clean: printable, not empty, bounded.
func clean(s string, max int) bool {
	if s == "" || len(s) > max {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool { return r < 0x20 || r == 0x7f }) < 0
}

func absolute(p string) bool {
	return clean(p, 1024) && p[0] == '/' && p != "/" && path.Clean(p) == p
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if c != '-' {
				return false
			}
			continue
		}
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// deadline is the child's.
func (r Request) deadline() time.Duration {
	if r.Deadline == 0 {
		return DeadlineDefault
	}
	return r.Deadline
}
