package gate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The lists of what Read and Run accept, one form a line. In a form a word
// stands for itself, VOLUME, HOST, BRICK, KEY, VALUE and COUNT for a value of
// that kind, [word] may be absent, a|b is one of both, and "..." after the last
// kind repeats it. KEY VALUE... repeats as pairs. What is on no line does not
// run: a mistake elsewhere cannot reach further than this.
var (
	readForms = forms(`
		--version
		pool list
		peer status
		volume list
		volume info [VOLUME]
		volume get VOLUME KEY
		volume set help
		volume status [VOLUME] [detail|tasks|clients]
		volume status VOLUME BRICK [detail|clients]
		volume heal VOLUME info [summary|split-brain]
		volume heal VOLUME statistics [heal-count]
		volume rebalance VOLUME status
		volume remove-brick VOLUME BRICK... status
		volume remove-brick VOLUME replica COUNT BRICK... status
		snapshot list [VOLUME]
	`)
	runForms = forms(`
		system:: uuid get
		peer probe HOST
		volume create VOLUME [transport] [tcp] BRICK...
		volume create VOLUME replica COUNT [transport] [tcp] BRICK...
		volume create VOLUME replica COUNT arbiter COUNT [transport] [tcp] BRICK...
		volume create VOLUME disperse COUNT redundancy COUNT [transport] [tcp] BRICK...
		volume create VOLUME disperse-data COUNT redundancy COUNT [transport] [tcp] BRICK...
		volume start VOLUME [force]
		volume stop VOLUME
		volume delete VOLUME
		volume set VOLUME KEY VALUE...
		volume reset VOLUME KEY
		volume add-brick VOLUME BRICK...
		volume rebalance VOLUME start|stop
		volume heal VOLUME [full]
	`)
)

const (
	argvMax    = 4096
	argSizeMax = 4096
)

// Allowed reports why the command line may not run as v, which is Run or Read;
// nil if it may. argv[0] is "gluster"; --mode=script, --xml and --timeout=N may
// stand anywhere after it, no other option may. Run needs --mode=script: there
// is nobody to answer a question.
func Allowed(v Verb, argv []string) error {
	words, script, err := splitArgv(argv)
	if err != nil {
		return err
	}
	list := readForms
	if v == Run {
		list = runForms
		if !script {
			return fmt.Errorf("a command that changes something needs --mode=script")
		}
	}
	for _, f := range list {
		if f.match(words) {
			return nil
		}
	}
	return fmt.Errorf("%.200q is not among the commands the gate will %s", strings.Join(words, " "), v)
}

// splitArgv takes the accepted options out of a command line.
func splitArgv(argv []string) (words []string, script bool, err error) {
	if len(argv) == 0 || argv[0] != "gluster" {
		return nil, false, fmt.Errorf("the command must be gluster")
	}
	if len(argv) > argvMax {
		return nil, false, fmt.Errorf("%d arguments are more than %d", len(argv), argvMax)
	}
	for _, a := range argv[1:] {
		switch {
		case !clean(a, argSizeMax):
			return nil, false, fmt.Errorf("argument %.40q is empty, too long or not printable", a)
		case a == "--mode=script":
			script = true
		case a == "--xml", isTimeout(a):
		case a == "--version":
			words = append(words, a)
		case strings.HasPrefix(a, "--"):
			return nil, false, fmt.Errorf("option %.40q is not accepted", a)
		default:
			words = append(words, a)
		}
	}
	return words, script, nil
}

// A form is one line of a list.
type form struct {
	slots  []slot
	repeat bool // the last kind before tail repeats
	tail   []slot
}

type slot struct {
	words    []string // literals; or one kind
	kind     string
	optional bool
}

func forms(text string) []form {
	var out []form
	for line := range strings.Lines(text) {
		var f form
		for w := range strings.FieldsSeq(line) {
			if f.repeat {
				f.tail = append(f.tail, parseSlot(w))
				continue
			}
			w, more := strings.CutSuffix(w, "...")
			f.repeat = more
			f.slots = append(f.slots, parseSlot(w))
		}
		if len(f.slots) > 0 {
			out = append(out, f)
		}
	}
	return out
}

func parseSlot(w string) slot {
	var s slot
	if inner, ok := strings.CutPrefix(w, "["); ok {
		s.optional = true
		w = strings.TrimSuffix(inner, "]")
	}
	if w == strings.ToUpper(w) && !strings.HasPrefix(w, "-") {
		s.kind = w
		return s
	}
	s.words = strings.Split(w, "|")
	return s
}

func (f form) match(words []string) bool {
	if f.repeat {
		if len(words) < len(f.tail) {
			return false
		}
		cut := len(words) - len(f.tail)
		if !matchSlots(f.tail, words[cut:]) {
			return false
		}
		words = words[:cut]
		last := f.slots[len(f.slots)-1]
		if last.kind == "VALUE" {
			// Pairs: fold all but the first away.
			for len(words) > len(f.slots) && len(words) >= 2 {
				n := len(words)
				if !kind("KEY", words[n-2]) || !kind("VALUE", words[n-1]) {
					return false
				}
				words = words[:n-2]
			}
		} else {
			for len(words) > 1 && kind(last.kind, words[len(words)-1]) && kind(last.kind, words[len(words)-2]) {
				words = words[:len(words)-1]
			}
		}
	}
	return matchSlots(f.slots, words)
}

// matchSlots tries each optional slot both ways; forms are short.
func matchSlots(slots []slot, words []string) bool {
	if len(slots) == 0 {
		return len(words) == 0
	}
	s := slots[0]
	if len(words) > 0 && s.accepts(words[0]) && matchSlots(slots[1:], words[1:]) {
		return true
	}
	return s.optional && matchSlots(slots[1:], words)
}

func (s slot) accepts(w string) bool {
	if s.kind != "" {
		return kind(s.kind, w)
	}
	return slices.Contains(s.words, w)
}

// kind reports whether w is a value of the kind.
func kind(k, w string) bool {
	switch k {
	case "VOLUME": // "all" too, where gluster takes it
		return word(w, 255)
	case "HOST":
		return word(w, 253) || strings.Count(w, ":") > 1 && strings.Trim(w, "0123456789abcdefABCDEF:") == ""
	case "BRICK":
		host, path, ok := strings.Cut(w, ":/")
		return ok && kind("HOST", host) && absolute("/"+path)
	case "KEY":
		return word(w, 255)
	case "VALUE":
		return true
	case "COUNT":
		n, err := strconv.Atoi(w)
		return err == nil && n >= 0 && n <= 1024
	}
	return false
}

func isTimeout(a string) bool {
	v, ok := strings.CutPrefix(a, "--timeout=")
	n, err := strconv.Atoi(v)
	return ok && err == nil && n > 0 && n <= 3600
}
