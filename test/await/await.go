// Package await waits with a deadline and says what it waited for.
package await

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// TailLines is how much of a log an error carries.
const TailLines = 15

// pollEvery is how often Until looks again.
const pollEvery = 25 * time.Millisecond

// tailBytesMax bounds what is read of a log for its tail.
const tailBytesMax = 64 << 10

// Until calls probe until it returns nil, ctx ends or the deadline passes. The
// error says what was waited for, what the last probe said, and the end of log
// when one is given.
func Until(ctx context.Context, deadline time.Duration, what, log string, probe func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, deadline, fmt.Errorf("not within %v", deadline))
	defer cancel()
	var before error
	for {
		err := probe(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil && before != nil { // a probe that was cut off says little
			err = fmt.Errorf("%w; before that: %w", err, before)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting until %s: %w; last: %w%s", what, context.Cause(ctx), err, Tail(log, TailLines))
		case <-time.After(pollEvery):
		}
		before = err
	}
}

// Tail returns the last lines of a file for the end of an error, headed by its
// name, or nothing when there is no such file.
func Tail(file string, lines int) string {
	if file == "" {
		return ""
	}
	text := TailOf(file, lines)
	if text == "" {
		return fmt.Sprintf(" (%s is empty)", file)
	}
	return fmt.Sprintf("\n  end of %s:\n  | %s", file, strings.ReplaceAll(text, "\n", "\n  | "))
}

// TailOf returns the last lines of a file, without the final newline.
func TailOf(file string, lines int) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	data, err := io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-tailBytesMax), tailBytesMax))
	if err != nil {
		return ""
	}
	data = bytes.TrimRight(data, "\n")
	for i, n := len(data)-1, 0; i >= 0; i-- {
		if data[i] == '\n' {
			if n++; n == lines {
				return string(data[i+1:])
			}
		}
	}
	return string(data)
}

// LastLines returns the end of a text.
func LastLines(text string, n int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// FirstLine drops what follows the first line of an error: tails of logs.
func FirstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
