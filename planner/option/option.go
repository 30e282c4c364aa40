package option

import (
	"fmt"
	"slices"
	"strings"
)

// A Scope is what an option belongs to.
type Scope string

// The scopes.
const (
	Volume  Scope = "volume"  // gluster volume set VOLUME
	Cluster Scope = "cluster" // gluster volume set all
)

// A Class says when an option may be set by a custom resource.
type Class string

// The classes.
const (
	Free      Class = "free"       // at any time
	OnlyEmpty Class = "only-empty" // only while the volume holds no data
	Never     Class = "never"      // refused, also with allowUnknown
	Unknown   Class = "unknown"    // in no table: refused unless allowUnknown
)

// An Error says why an option is refused, and what would be accepted. It is one
// line, fit for a condition.
type Error struct {
	Scope  Scope
	Key    string
	Value  string
	Class  Class
	Reason string // why
	Accept string // what is accepted instead; empty: nothing
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s option %q = %q is refused: %s", e.Scope, clip(e.Key), clip(e.Value), e.Reason)
	if e.Accept != "" {
		s += "; accepted: " + e.Accept
	}
	return s
}

const (
	keyBytesMax   = 255
	valueBytesMax = 4096
)

// Check tells whether key may be set to value, apart from what the volume holds
// now: with onlyEmpty it may be set only while the volume has no data. The
// error is an *Error. allowUnknown admits keys that are in no table, never
// those the table knows as dangerous.
func Check(s Scope, key, value string, allowUnknown bool) (onlyEmpty bool, err error) {
	deny := func(c Class, reason, accept string) (bool, error) {
		return false, &Error{Scope: s, Key: key, Value: value, Class: c, Reason: reason, Accept: accept}
	}
	if why := badKey(key); why != "" {
		return deny(Never, why, "a full name such as performance.cache-size")
	}
	if why := badValue(value); why != "" {
		return deny(Never, why, "1 to 4096 printable characters")
	}
	e := lookup(s, key)
	switch e.class {
	case Unknown:
		if other := lookup(s.other(), key); other.class != Unknown {
			return deny(Never, fmt.Sprintf("it is an option of the %s", s.other()), "")
		}
		if allowUnknown {
			return false, nil
		}
		return deny(Unknown, "the table of GlusterFS 10.3 does not have it", "it with allowUnknownOptions: true, at your own risk")
	case Never:
		return deny(Never, e.why, e.accept)
	}
	if e.rule != nil && !e.rule(value) {
		return deny(Never, e.why, e.accept)
	}
	return e.class == OnlyEmpty, nil
}

// CheckOption is Check for a volume of which is known whether it is empty. For
// Cluster volumeEmpty does not matter.
func CheckOption(s Scope, key, value string, volumeEmpty, allowUnknown bool) error {
	onlyEmpty, err := Check(s, key, value, allowUnknown)
	if err != nil {
		return err
	}
	if onlyEmpty && !volumeEmpty {
		return &Error{
			Scope: s, Key: key, Value: value, Class: OnlyEmpty,
			Reason: "changing it makes the data that is there unreadable or misplaced", Accept: "it on a volume that holds no data yet",
		}
	}
	return nil
}

// CheckReset tells whether an option that Anthill once set may be put back to
// its default. What may not be changed on a volume with data may not be reset.
func CheckReset(s Scope, key string) error {
	deny := func(c Class, reason string) error {
		return &Error{Scope: s, Key: key, Value: "(default)", Class: c, Reason: reason}
	}
	if why := badKey(key); why != "" {
		return deny(Never, why)
	}
	switch e := lookup(s, key); {
	case e.class == Never:
		return deny(Never, e.why)
	case strings.HasPrefix(key, "user."):
		return deny(Never, "gluster cannot reset a user option; it keeps its value")
	case e.class == OnlyEmpty:
		return deny(OnlyEmpty, "changing it makes the data that is there unreadable or misplaced")
	}
	return nil
}

// ClassOf returns the class of an option, whatever its value.
func ClassOf(s Scope, key string) Class { return lookup(s, key).class }

// Keys lists the table's keys of a scope, sorted.
func Keys(s Scope) []string {
	var out []string
	for k := range tables[s] {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func (s Scope) other() Scope {
	if s == Volume {
		return Cluster
	}
	return Volume
}

// lookup finds the entry of a key; one of class Unknown if there is none.
func lookup(s Scope, key string) entry {
	if e, ok := tables[s][key]; ok {
		return e
	}
	if s == Volume {
		for _, p := range prefixes {
			if strings.HasPrefix(key, p.prefix) {
				return p.entry
			}
		}
	}
	return entry{class: Unknown}
}

// badKey refuses what is not a full key. gluster completes short names
// ("self-heal-daemon") and reads "group" as a file of options: neither may pass
// by the table.
func badKey(key string) string {
	switch {
	case key == "" || len(key) > keyBytesMax:
		return "the key is empty or too long"
	case !strings.Contains(key, "."):
		return "gluster would complete the short name, or read a group of options"
	case key[0] == '-' || key[0] == '.' || strings.ContainsFunc(key, notInKeys):
		return "the key has characters that no option has"
	}
	return ""
}

func notInKeys(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-')
}

func badValue(value string) string {
	if value == "" || len(value) > valueBytesMax {
		return "the value is empty or too long"
	}
	if value[0] == '-' && strings.HasPrefix(value, "--") {
		return "gluster would take the value for one of its own flags"
	}
	for _, r := range value {
		if r < ' ' || r == 0x7f {
			return "the value has characters that break gluster's files"
		}
	}
	return ""
}

func clip(s string) string {
	if len(s) > 80 {
		return strings.ToValidUTF8(s[:80], "") + "..."
	}
	return s
}
