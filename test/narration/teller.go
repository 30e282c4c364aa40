package narration

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// A Teller prints lines. Safe for concurrent use.
type Teller struct {
	began time.Time
	mu    sync.Mutex
	to    io.Writer
}

// New begins to tell.
func New(to io.Writer) *Teller { return &Teller{began: time.Now(), to: to} }

// Sayf tells what is done next, or what came out of it.
func (t *Teller) Sayf(format string, args ...any) { t.line("  ", format, args) }

// Detailf tells of something that happens meanwhile.
func (t *Teller) Detailf(format string, args ...any) { t.line("      ", format, args) }

func (t *Teller) line(indent, format string, args []any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = fmt.Fprintf(t.to, "%6.1fs%s%s\n", time.Since(t.began).Seconds(), indent, fmt.Sprintf(format, args...))
}

// Block shows what a command printed.
func (t *Teller) Block(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		_, _ = fmt.Fprintf(t.to, "             %s\n", strings.TrimRight(line, "\n"))
	}
}

// Size is a number of bytes for people; nil: unknown.
func Size(bytes *int64) string {
	if bytes == nil {
		return "an unknown number of bytes"
	}
	return fmt.Sprintf("%d MiB", *bytes>>20)
}
