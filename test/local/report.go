package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/gluster/anthill/test/await"
)

// ErrUnhealthy is returned when something is.
var ErrUnhealthy = errors.New("not everything is healthy")

// errNoLogs is returned for what writes none.
var errNoLogs = errors.New("no logs")

// errFormat is returned for what nobody can print.
var errFormat = errors.New("want table or json")

// Report prints how the components are, as a table or as JSON. ErrUnhealthy
// says that one of them is not well.
func Report(out io.Writer, all []ComponentStatus, format string) error {
	var failed error
	if slices.ContainsFunc(all, func(c ComponentStatus) bool { return !c.Healthy }) {
		failed = ErrUnhealthy
	}
	switch format {
	case "json":
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return errors.Join(e.Encode(all), failed)
	case "table":
		return errors.Join(writeTable(out, all), failed)
	default:
		return fmt.Errorf("output %q: %w", format, errFormat)
	}
}

func writeTable(out io.Writer, all []ComponentStatus) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "COMPONENT\tADDRESS\tHEALTHY\tSTATE")
	for _, c := range all {
		healthy := "yes"
		if !c.Healthy {
			healthy = "NO"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", c.Name, c.Address, healthy, c.State)
	}
	return w.Flush()
}

// ReportLogs prints the ends of the logs of the named components, or of all.
func ReportLogs(out io.Writer, logs map[string][]string, names []string, lines int) error {
	if len(names) == 0 {
		for name := range logs {
			names = append(names, name)
		}
		slices.Sort(names)
	}
	for _, name := range names {
		if logs[name] == nil {
			return fmt.Errorf("%q: %w", name, errNoLogs)
		}
		for _, file := range logs[name] {
			fmt.Fprintf(out, "==> %s\n  %s\n", file, strings.ReplaceAll(await.TailOf(file, lines), "\n", "\n  "))
		}
	}
	return nil
}

// Tail returns the last lines of a log file, or nothing.
func Tail(file string, lines int) string { return await.TailOf(file, lines) }
