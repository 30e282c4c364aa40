package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/gluster/anthill/test/local"
	"github.com/gluster/anthill/test/local/writer"
)

func newExec(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "exec MACHINE -- ARGV...",
		Short: "Run a command on a machine",
		Args:  cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, m, err := o.machine(args[0])
			if err != nil {
				return err
			}
			if !m.Running() {
				return fmt.Errorf("%s is not running", m.Name())
			}
			c := m.Command(cmd.Context(), args[1:]...)
			c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
			// In the terminal's foreground group, so that a shell can be used.
			c.SysProcAttr, c.Cancel = nil, nil
			err = c.Run()
			var exit *exec.ExitError
			if errors.As(err, &exit) && exit.ExitCode() > 0 {
				return exitStatus(exit.ExitCode())
			}
			return err
		},
	}
}

// An exitStatus is how a command that ran on a machine ended.
type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// machineVerbs are the verbs that take a machine and nothing else.
func machineVerbs(o *options) []*cobra.Command {
	verbs := []struct {
		use, short string
		do         func(context.Context, *local.Machine) error
	}{
		{"kill", "SIGKILL a machine's pid 1, and so everything on it; up brings it back", func(ctx context.Context, m *local.Machine) error { return m.Kill(ctx) }},
		{"poweroff", "Kill a machine so that no peer sees a connection end", func(ctx context.Context, m *local.Machine) error { return m.PowerOff(ctx) }},
		{"stop", "SIGSTOP every process of a machine", func(_ context.Context, m *local.Machine) error { return m.Pause() }},
		{"cont", "SIGCONT every process of a machine", func(_ context.Context, m *local.Machine) error { return m.Resume() }},
		{"cut", "Take a machine off the network", func(ctx context.Context, m *local.Machine) error { return m.Cut(ctx) }},
		{"heal", "Put a machine back on the network", func(ctx context.Context, m *local.Machine) error { return m.Heal(ctx) }},
	}
	var out []*cobra.Command
	for _, v := range verbs {
		out = append(out, &cobra.Command{
			Use:   v.use + " MACHINE",
			Short: v.short,
			Args:  cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				_, m, err := o.machine(args[0])
				if err != nil {
					return err
				}
				return v.do(cmd.Context(), m)
			},
		})
	}
	return out
}

// newDisturb has the verbs for servers that touch one of its daemons.
func newDisturb(o *options) *cobra.Command {
	verbs := map[string]func(context.Context, *local.Server) error{
		"start":           func(ctx context.Context, s *local.Server) error { return s.Start(ctx) },
		"stop-glusterd":   func(ctx context.Context, s *local.Server) error { return s.StopGlusterd(ctx) },
		"kill-glusterd":   func(ctx context.Context, s *local.Server) error { return s.KillGlusterd(ctx) },
		"pause-glusterd":  func(_ context.Context, s *local.Server) error { return s.PauseGlusterd() },
		"resume-glusterd": func(_ context.Context, s *local.Server) error { return s.ResumeGlusterd() },
		"start-glusterd":  func(ctx context.Context, s *local.Server) error { return s.StartGlusterd(ctx) },
		"stop-sshd":       func(ctx context.Context, s *local.Server) error { return s.StopSSH(ctx) },
		"start-sshd":      func(ctx context.Context, s *local.Server) error { return s.StartSSH(ctx) },
		"wipe":            func(ctx context.Context, s *local.Server) error { return s.Wipe(ctx) },
	}
	parent := &cobra.Command{Use: "server", Short: "Start a server again, wipe it, or disturb one of its daemons"}
	for name, do := range verbs {
		parent.AddCommand(&cobra.Command{
			Use:  name + " SERVER",
			Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				env, err := local.Open(o.config())
				if err != nil {
					return err
				}
				for _, s := range env.Servers() {
					if s.Key() == args[0] || s.Name() == args[0] {
						return do(cmd.Context(), s)
					}
				}
				return fmt.Errorf("no server %q: see status", args[0])
			},
		})
	}
	return parent
}

// mounted finds the mount of a volume.
func (o *options) mounted(volume string) (*local.Mount, error) {
	env, err := local.Open(o.config())
	if err != nil {
		return nil, err
	}
	for _, m := range env.Mounts() {
		if m.Volume() == volume {
			return m, nil
		}
	}
	return nil, fmt.Errorf("volume %q is not mounted", volume)
}

func newMount(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "mount VOLUME",
		Short: "Mount a volume on a client machine and print where it can be seen",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			env, err := local.Open(o.config())
			if err != nil {
				return err
			}
			m, err := env.Mount(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s\n", m.Dir())
			return nil
		},
	}
}

func newUnmount(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "unmount VOLUME",
		Short: "Unmount a volume and remove its client machine",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := o.mounted(args[0])
			if err != nil {
				return err
			}
			return m.Unmount(cmd.Context())
		},
	}
}

// newWriter has the verbs of the process that writes and re-reads a volume.
func newWriter(o *options) *cobra.Command {
	parent := &cobra.Command{Use: "writer", Short: "Write and re-read checksummed files on a mounted volume"}
	cfg := writer.Config{}
	start := &cobra.Command{
		Use:   "start VOLUME",
		Short: "Start it in the background",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := o.mounted(args[0])
			if err != nil {
				return err
			}
			return m.StartWriter(cmd.Context(), cfg)
		},
	}
	start.Flags().IntVar(&cfg.Files, "files", writer.FilesDefault, "files kept")
	start.Flags().IntVar(&cfg.BytesMax, "bytes-max", writer.BytesMaxDefault, "largest file")
	start.Flags().DurationVar(&cfg.Pause, "pause", writer.PauseDefault, "after each write and each read")
	start.Flags().Uint64Var(&cfg.Seed, "seed", 1, "of contents and sizes")
	report := &cobra.Command{
		Use:   "report VOLUME",
		Short: "Print its report as JSON; exit code 1 when it saw an error",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := o.mounted(args[0])
			if err != nil {
				return err
			}
			r, err := m.WriterReport()
			return printReport(cmd, r, err)
		},
	}
	stop := &cobra.Command{
		Use:   "stop VOLUME",
		Short: "Let it verify every file and end, and print its last report",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := o.mounted(args[0])
			if err != nil {
				return err
			}
			r, err := m.StopWriter(cmd.Context())
			return printReport(cmd, r, err)
		},
	}
	parent.AddCommand(start, report, stop)
	return parent
}

// printReport prints a report without its list of files.
func printReport(cmd *cobra.Command, r writer.Report, err error) error {
	if err != nil {
		return err
	}
	problem := r.Problem()
	r.Files = nil
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s\n", data)
	if problem != "" {
		return errors.New(problem)
	}
	return nil
}
