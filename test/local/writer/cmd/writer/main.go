// Command writer runs package writer where nothing else of the tests is: in a
// pod. Its argument is a writer.Config as JSON.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/gluster/anthill/test/local/writer"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "writer:", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 2 {
		return fmt.Errorf("%d arguments: one is accepted, a configuration as JSON", len(os.Args)-1)
	}
	var cfg writer.Config
	if err := json.Unmarshal([]byte(os.Args[1]), &cfg); err != nil {
		return fmt.Errorf("reading the configuration: %w", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	_, err := writer.Run(ctx, cfg)
	return err
}
