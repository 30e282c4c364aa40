package local

import (
	"context"

	"github.com/gluster/anthill/test/program"
)

// buildBinaries builds what the environment needs and is not built yet.
func (e *Env) buildBinaries(ctx context.Context) error {
	names := []string{etcdName, apiServerName}
	if e.cfg.Kubectl {
		names = append(names, "kubectl")
	}
	for _, name := range names {
		if err := program.Kube(e.cfg.Checkout, name).Build(ctx, e.logf); err != nil {
			return err
		}
	}
	return nil
}
