package gluster

import (
	"fmt"
	"strconv"
	"strings"
)

// ini is the text of get-state: "key: value" lines in [Sections]. Keys are
// unique across sections, but for the free ones of [Global options].
type ini struct {
	text     map[string]string
	globals  map[string]string
	complete bool // the last section was reached
}

func readINI(text string) (*ini, error) {
	f := &ini{text: map[string]string{}, globals: map[string]string{}}
	section := ""
	for line := range strings.Lines(text) {
		whole := strings.HasSuffix(line, "\n")
		line = strings.TrimSuffix(line, "\n")
		if line == "" {
			continue
		}
		if strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") && !strings.Contains(line, ":") {
			section = line[1 : len(line)-1]
			f.complete = section == "Misc" && whole // the last one
			continue
		}
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, fmt.Errorf("line %.80q is not a key and a value", line)
		}
		into := f.text
		if section == "Global options" {
			into = f.globals
		}
		// A value with a line break in it could pass for other keys: no key twice.
		if _, twice := into[key]; twice {
			return nil, fmt.Errorf("key %.80q is there twice", key)
		}
		into[key] = strings.TrimPrefix(value, " ")
	}
	return f, nil
}

func (f *ini) has(key string) bool {
	_, ok := f.text[key]
	return ok
}

// under returns the keys below a prefix, without it.
func (f *ini) under(pre string) map[string]string {
	out := map[string]string{}
	for k, v := range f.text {
		if rest, ok := strings.CutPrefix(k, pre); ok {
			out[rest] = v
		}
	}
	return out
}

func (f *ini) number(key string) (int, error) {
	n, ok := number(f.text[key])
	if !ok {
		return 0, fmt.Errorf("%s: %.40q is not a number", key, f.text[key])
	}
	return n, nil
}

// numbers reads several numbers below a prefix and keeps the first error.
type numbers struct {
	f   *ini
	pre string
	err error
}

func (n *numbers) int(key string, to *int) {
	if n.err == nil {
		*to, n.err = n.f.number(n.pre + key)
	}
}

// uint reads a number with a unit behind it; a key that is absent is zero.
func (n *numbers) uint(key, unit string, to *uint64) {
	v, ok := n.f.text[n.pre+key]
	if !ok || n.err != nil {
		return
	}
	if *to, n.err = strconv.ParseUint(strings.TrimSuffix(v, unit), 10, 64); n.err != nil {
		n.err = fmt.Errorf("%s: %.40q is not a number", n.pre+key, v)
	}
}
