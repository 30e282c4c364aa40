package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Line makes text that came from outside fit one line of a terminal: line
// breaks become "; ", other control characters and bytes that are no text are
// written as escapes, so that nothing can move the cursor or fake a line.
func Line(s string) string { return clean(s, "; ") }

// Block is Line for text of several lines, each prefixed with indent.
func Block(s, indent string) string {
	var b strings.Builder
	for l := range strings.Lines(strings.TrimRight(s, "\n")) {
		b.WriteString(indent + clean(strings.TrimRight(l, "\r\n"), " ") + "\n")
	}
	return b.String()
}

func clean(s, newline string) string {
	s = strings.ReplaceAll(strings.TrimSpace(s), "\r\n", "\n")
	if !strings.ContainsFunc(s, unprintable) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\n':
			b.WriteString(newline)
		case r == '\t':
			b.WriteByte(' ')
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case unprintable(r):
			q := strconv.QuoteRuneToASCII(r)
			b.WriteString(q[1 : len(q)-1])
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

// unprintable holds for control characters and for those that reorder text.
func unprintable(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

// Age writes a length of time in at most two units: 7s, 4m12s, 3h5m, 2d4h, 41d.
// A negative one, from clocks that disagree, is written as 0s.
func Age(d time.Duration) string {
	s := int64(d / time.Second)
	two := func(big, small int64, b, l string) string {
		if small == 0 {
			return fmt.Sprintf("%d%s", big, b)
		}
		return fmt.Sprintf("%d%s%d%s", big, b, small, l)
	}
	switch {
	case s <= 0:
		return "0s"
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return two(s/60, s%60, "m", "s")
	case s < 86400:
		return two(s/3600, s%3600/60, "h", "m")
	case s < 10*86400:
		return two(s/86400, s%86400/3600, "d", "h")
	}
	return fmt.Sprintf("%dd", s/86400)
}

// Bytes writes a size with a binary unit: 512 B, 164.0 KiB, 1.0 GiB.
func Bytes(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	f, units := float64(n)/1024, "KMGTPE"
	i := 0
	for f >= 1024 && i < len(units)-1 {
		f, i = f/1024, i+1
	}
	return fmt.Sprintf("%.1f %ciB", f, units[i])
}

// Argv writes a command line so that its words can be told apart. It is for
// reading; it is not a shell's quoting.
func Argv(argv []string) string {
	words := make([]string, len(argv))
	for i, w := range argv {
		words[i] = w
		if w == "" || strings.ContainsFunc(w, func(r rune) bool { return unicode.IsSpace(r) || r == '"' || unprintable(r) }) {
			words[i] = strconv.Quote(w)
		}
	}
	return strings.Join(words, " ")
}
