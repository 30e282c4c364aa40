package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/gluster/anthill/cmd/anthill/manager"
)

func newManagerCommand() *cobra.Command { return manager.NewCommand(os.Getenv, thisBuild().String()) }
