package cli

import (
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"
)

// The output formats.
const (
	FormatTable  = "table"
	FormatWide   = "wide"
	FormatJSON   = "json"
	FormatYAML   = "yaml"
	FormatNDJSON = "ndjson"
	FormatName   = "name"
)

// Output holds the flags that say how something is printed.
type Output struct {
	Format    Choice
	Color     Choice
	NoHeaders bool
	UTC       bool
}

// NewOutput accepts the given formats, the first being the default; without
// any, all of them.
func NewOutput(formats ...string) *Output {
	if len(formats) == 0 {
		formats = []string{FormatTable, FormatWide, FormatJSON, FormatYAML, FormatNDJSON, FormatName}
	}
	return &Output{
		Format: Choice{Value: formats[0], Allowed: formats},
		Color:  Choice{Value: "auto", Allowed: []string{"auto", "always", "never"}},
	}
}

// AddFlags registers the flags. Those of tables are left out when there is
// neither table nor wide to print.
func (o *Output) AddFlags(f *pflag.FlagSet) {
	f.VarP(&o.Format, "output", "o", "format of the output")
	if !slices.Contains(o.Format.Allowed, FormatTable) {
		return
	}
	f.Var(&o.Color, "color", "colour the output; auto: on a terminal, unless NO_COLOR is set")
	f.BoolVar(&o.NoHeaders, "no-headers", false, "print no header line")
	f.BoolVar(&o.UTC, "utc", false, "print times, in UTC, instead of ages and local times")
}

// Is reports whether one of the formats was asked for.
func (o *Output) Is(formats ...string) bool { return slices.Contains(formats, o.Format.Value) }

// People reports whether the output is for people: a table of either width.
func (o *Output) People() bool { return o.Is(FormatTable, FormatWide) }

// PaletteFor returns the palette for w: colours, or nothing at all.
func (o *Output) PaletteFor(w io.Writer, getenv func(string) string) Palette {
	on := o.Color.Value == "always"
	if o.Color.Value == "auto" {
		on = Terminal(w) && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
	}
	return Palette{on: on && o.People()}
}

// Time writes a point in time for people, in UTC if asked for.
func (o *Output) Time(t time.Time, local *time.Location) string {
	if t.IsZero() {
		return "-"
	}
	if o.UTC {
		local = time.UTC
	}
	return t.In(local).Format("2006-01-02T15:04:05.000Z07:00")
}

// Terminal reports whether w is a terminal.
func Terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}
