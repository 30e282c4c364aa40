package await

import (
	"context"
	"errors"
	"sync"
)

// All runs jobs at the same time and returns all their errors. The first error
// ends the others' context.
func All(ctx context.Context, jobs []func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	errs := make([]error, len(jobs))
	var wg sync.WaitGroup
	for i, job := range jobs {
		wg.Go(func() {
			if errs[i] = job(ctx); errs[i] != nil {
				cancel(errors.New("another part failed"))
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
