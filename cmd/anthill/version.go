package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/gluster/anthill/cmd/anthill/cli"
	"github.com/gluster/anthill/executor/gate"
)

// version is the release, set when linking:
//
//	go build -ldflags "-X main.version=v0.1.0" ./cmd/anthill
//
// Without it the version Go recorded counts.
var version string

// A build says which program this is. The JSON is a promise.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"` // the source had uncommitted changes
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Gate     int    `json:"gateProtocol"`
}

// thisBuild is the build of the running binary.
func thisBuild() build {
	b := build{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Gate: gate.ProtocolVersion}
	info, ok := debug.ReadBuildInfo()
	if ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Commit = s.Value
			case "vcs.modified":
				b.Modified = s.Value == "true"
			}
		}
		if b.Version == "" {
			b.Version = info.Main.Version
		}
	}
	if b.Version == "" || b.Version == "(devel)" {
		b.Version = "devel"
	}
	return b
}

// String is the build in one word or two, as it goes into the journal.
func (b build) String() string {
	if b.Commit == "" {
		return b.Version
	}
	s := b.Version + " " + b.Commit[:min(len(b.Commit), 12)]
	if b.Modified {
		s += "+modified"
	}
	return s
}

func newVersionCommand() *cobra.Command {
	out := cli.NewOutput("text", cli.FormatJSON, cli.FormatYAML)
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program",
		Args:  cli.Args(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			b := thisBuild()
			if out.Is("text") {
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "anthill %s (%s, %s, gate protocol %d)\n", b, b.Go, b.Platform, b.Gate)
				return err
			}
			return cli.WriteObject(cmd.OutOrStdout(), out.Format.Value, b)
		},
	}
	out.AddFlags(cmd.Flags())
	return cmd
}
