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

// newLog makes the one log of the process and lets the libraries write to it.
// What is logged never holds a secret: none is ever handed to it.
func newLog(w io.Writer, level, format string) (logr.Logger, *slog.Logger, error) {
	min, err := zerolog.ParseLevel(level)
	if err != nil {
		return logr.Logger{}, nil, fmt.Errorf("log level %q: %w", level, err)
	}
	if format == "console" {
		w = zerolog.ConsoleWriter{Out: w, TimeFormat: time.TimeOnly, NoColor: true}
	}
	handler := zerolog.NewSlogHandler(zerolog.New(w).Level(min))
	log := logr.FromSlogHandler(handler)
	ctrl.SetLogger(quiet(log))
	klog.SetLogger(quiet(log.WithName("kubernetes")))
	return log, slog.New(handler), nil
}

// quiet is log for libraries: what they find worth telling is a detail to those
// who run the operator. Their errors stay errors.
func quiet(log logr.Logger) logr.Logger { return log.V(1) }
