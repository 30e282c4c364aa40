package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// A Palette colours words, or does not.
type Palette struct{ on bool }

// A Color is one of the few colours in use; the zero one is none.
type Color string

// The colours. A colour never says anything that a word beside it does not.
const (
	Plain  Color = ""
	Red    Color = "31"
	Green  Color = "32"
	Yellow Color = "33"
	Cyan   Color = "36"
	Faint  Color = "2"
	Bold   Color = "1"
)

// Paint colours s.
func (p Palette) Paint(c Color, s string) string {
	if !p.on || c == Plain || s == "" {
		return s
	}
	return "\x1b[" + string(c) + "m" + s + "\x1b[0m"
}

// A Cell is a text with its colour.
type Cell struct {
	Text  string
	Color Color
}

// Text makes plain cells; an empty text is shown as "-", so that every column
// of every row holds a word.
func Text(texts ...string) []Cell {
	cells := make([]Cell, len(texts))
	for i, t := range texts {
		cells[i].Text = t
	}
	return cells
}

// gap separates columns: two spaces, so that a value may hold a single one.
const gap = "  "

// A Table collects rows and prints them with columns as wide as they need.
type Table struct {
	Header []string // printed if not empty
	rows   [][]Cell
}

// Row adds a row; it has as many cells as the header.
func (t *Table) Row(cells ...Cell) { t.rows = append(t.rows, cells) }

// Print writes the table to w. The last column is not padded.
func (t *Table) Print(w io.Writer, p Palette) error {
	var widths []int
	grow := func(i int, s string) {
		for len(widths) <= i {
			widths = append(widths, 0)
		}
		widths[i] = max(widths[i], utf8.RuneCountInString(s))
	}
	for i, h := range t.Header {
		grow(i, h)
	}
	for _, row := range t.rows {
		for i, c := range row {
			grow(i, cellText(c))
		}
	}
	if len(t.Header) > 0 {
		cells := Text(t.Header...)
		if err := writeRow(w, widths, cells, p); err != nil {
			return err
		}
	}
	for _, row := range t.rows {
		if err := writeRow(w, widths, row, p); err != nil {
			return err
		}
	}
	return nil
}

// WriteRow writes one row with columns at least as wide as widths, for streams
// whose end is not known.
func WriteRow(w io.Writer, widths []int, p Palette, cells ...Cell) error {
	return writeRow(w, widths, cells, p)
}

func writeRow(w io.Writer, widths []int, cells []Cell, p Palette) error {
	var b strings.Builder
	for i, c := range cells {
		text := cellText(c)
		b.WriteString(p.Paint(c.Color, text))
		if i == len(cells)-1 {
			break
		}
		if i < len(widths) {
			b.WriteString(strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(text))))
		}
		b.WriteString(gap)
	}
	_, err := fmt.Fprintln(w, b.String())
	return err
}

func cellText(c Cell) string {
	if t := Line(c.Text); t != "" {
		return t
	}
	return "-"
}
