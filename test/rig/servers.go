package rig

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/gluster/anthill/test/local"
)

// Refresh makes servers new ones: as fresh as after their installation, with
// the same names, addresses and host keys.
func Refresh(ctx context.Context, servers ...*local.Server) error {
	return Each(servers, func(s *local.Server) error {
		if err := s.Kill(ctx); err != nil {
			return fmt.Errorf("refreshing %s: %w", s.Name(), err)
		}
		if err := s.Wipe(ctx); err != nil {
			return fmt.Errorf("refreshing %s: %w", s.Name(), err)
		}
		if err := s.Start(ctx); err != nil {
			return fmt.Errorf("refreshing %s: %w", s.Name(), err)
		}
		return nil
	})
}

// Each does something with several servers at the same time.
func Each(servers []*local.Server, do func(*local.Server) error) error {
	errs := make([]error, len(servers))
	var wg sync.WaitGroup
	for i, s := range servers {
		wg.Go(func() { errs[i] = do(s) })
	}
	wg.Wait()
	return errors.Join(errs...)
}
