package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/gluster/anthill/cmd/anthill/planctl"
)

func newPlanCommand() *cobra.Command { return planctl.NewCommand(os.Getenv) }
