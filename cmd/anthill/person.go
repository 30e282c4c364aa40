package main

import (
	"os"
	"os/user"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/gluster/anthill/cmd/anthill/cli"
)

// person is who decides when --as does not say: as a kubectl plugin the user of
// the current context, else who is logged in. Behind sudo that is who called it.
func person(plugin bool) (string, error) {
	if plugin {
		if c, err := clientcmd.NewDefaultClientConfigLoadingRules().Load(); err == nil {
			if cc := c.Contexts[c.CurrentContext]; cc != nil && cc.AuthInfo != "" {
				return cc.AuthInfo, nil
			}
		}
	}
	for _, name := range []string{"SUDO_USER", "USER", "LOGNAME"} {
		if who := os.Getenv(name); who != "" {
			return who, nil
		}
	}
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username, nil
	}
	return "", cli.Usagef("it is not known who you are: --as NAME is required")
}
