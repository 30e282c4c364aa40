package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
)

// A figure is one line of the output.
type figure struct {
	name   string
	value  float64
	unit   string
	ratio  float64 // of value to what it is measured against; 0: none
	target target
}

// A target is what a figure should be; the zero value: anything will do.
type target struct {
	relation string // atMost or atLeast
	limit    float64
	ratio    bool // it is about the ratio, not the value
}

const (
	atMost  = "<="
	atLeast = ">="
)

func (t target) String() string {
	if t.relation == "" {
		return "-"
	}
	s := t.relation + short(t.limit)
	if t.ratio {
		s += "x"
	}
	return s
}

// met reports whether the figure is as it should be.
func (f figure) met() bool {
	v := f.value
	if f.target.ratio {
		v = f.ratio
	}
	switch f.target.relation {
	case atMost:
		return v <= f.target.limit
	case atLeast:
		return v >= f.target.limit
	}
	return true
}

func (f figure) String() string {
	ratio, verdict := "-", "ok"
	if f.ratio != 0 {
		ratio = strconv.FormatFloat(f.ratio, 'f', 2, 64)
	}
	if !f.met() {
		verdict = "short"
	}
	return fmt.Sprintf("%-38s %10s %-9s %7s %8s %s", f.name, short(f.value), f.unit, ratio, f.target, verdict)
}

// short is a number with three significant digits, without an exponent.
func short(v float64) string {
	if v == 0 {
		return "0"
	}
	digits := max(0, 2-int(math.Floor(math.Log10(math.Abs(v)))))
	s := strconv.FormatFloat(v, 'f', digits, 64)
	if digits == 0 {
		return s
	}
	for s[len(s)-1] == '0' {
		s = s[:len(s)-1]
	}
	if s[len(s)-1] == '.' {
		s = s[:len(s)-1]
	}
	return s
}

// quantile returns the q-quantile of values, which it sorts; 0 of none.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[min(len(values)-1, int(q*float64(len(values))))]
}

func median(values []float64) float64 { return quantile(values, 0.5) }

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
