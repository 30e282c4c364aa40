package manager

import (
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/go-logr/logr"
	"github.com/rs/zerolog"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// logs are the ways into the one log of the process. What is logged never holds
// a secret: none is ever handed to it.
type logs struct {
	own     logr.Logger
	library logr.Logger // for libraries, see below
	slog    *slog.Logger
}

// newLog makes the log and lets the libraries write to it. What they find worth
// telling is a detail to those who run the operator: unless details are asked
// for, only their warnings and errors are logged.
func newLog(w io.Writer, level, format string) (*logs, error) {
	least, err := zerolog.ParseLevel(level)
	if err != nil {
		return nil, fmt.Errorf("log level %q: %w", level, err)
	}
	if format == "console" {
		w = zerolog.ConsoleWriter{Out: w, TimeFormat: time.TimeOnly, NoColor: true}
	}
	base := zerolog.New(w)
	handler := zerolog.NewSlogHandler(base.Level(least))
	quiet := least
	if least == zerolog.InfoLevel {
		quiet = zerolog.WarnLevel
	}
	l := &logs{own: logr.FromSlogHandler(handler), library: logr.FromSlogHandler(zerolog.NewSlogHandler(base.Level(quiet))), slog: slog.New(handler)}
	ctrl.SetLogger(l.library)
	klog.SetLogger(l.library.WithName("kubernetes"))
	return l, nil
}
