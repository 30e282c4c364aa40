package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// A Choice is a flag that takes one of a few words.
type Choice struct {
	Value   string
	Allowed []string
}

var _ pflag.Value = (*Choice)(nil)

// String returns the chosen word.
func (c *Choice) String() string { return c.Value }

// Type names the value in help.
func (c *Choice) Type() string { return strings.Join(c.Allowed, "|") }

// Set accepts one of the allowed words.
func (c *Choice) Set(s string) error {
	if !slices.Contains(c.Allowed, s) {
		return fmt.Errorf("%s is accepted", list(c.Allowed))
	}
	c.Value = s
	return nil
}

// Choices is a flag that takes some of a few words, separated by commas or
// repeated.
type Choices struct {
	Values  []string
	Allowed []string
}

var _ pflag.Value = (*Choices)(nil)

// String returns the chosen words, separated by commas.
func (c *Choices) String() string { return strings.Join(c.Values, ",") }

// Type names the value in help.
func (c *Choices) Type() string { return "words" }

// Set adds words.
func (c *Choices) Set(s string) error {
	for w := range strings.SplitSeq(s, ",") {
		if !slices.Contains(c.Allowed, w) {
			return fmt.Errorf("%s is accepted", list(c.Allowed))
		}
		c.Values = append(c.Values, w)
	}
	return nil
}

// A Span is a flag that takes a positive length of time: 90s, 10m, 2h, 3d.
type Span time.Duration

var _ pflag.Value = (*Span)(nil)

// String returns the span as Go writes durations.
func (s *Span) String() string { return time.Duration(*s).String() }

// Type names the value in help.
func (s *Span) Type() string { return "duration" }

// Set accepts a positive length of time.
func (s *Span) Set(text string) error {
	d, err := ParseSpan(text)
	if err != nil {
		return err
	}
	*s = Span(d)
	return nil
}

// ParseSpan reads a positive length of time as people write it: Go's units and
// d for 24 hours.
func ParseSpan(s string) (time.Duration, error) {
	const day = 24 * time.Hour
	if n, ok := strings.CutSuffix(s, "d"); ok {
		if days, err := strconv.ParseUint(n, 10, 16); err == nil && days > 0 {
			return time.Duration(days) * day, nil
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d > 0 {
		return d, nil
	}
	return 0, fmt.Errorf("a length of time like 90s, 10m, 2h or 3d is accepted")
}

// ParseWhen reads a point in time: a span before now, or an RFC 3339 time.
func ParseWhen(s string, now time.Time) (time.Time, error) {
	if d, err := ParseSpan(s); err == nil {
		return now.Add(-d), nil
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	return time.Time{}, fmt.Errorf("a length of time like 90s, 10m, 2h or 3d, or a time like 2026-11-30T10:00:00Z, is accepted")
}
