package executor

import "context"

// graced is a context for an attempt under way and what is written of it: it
// outlives ctx by Options.Grace, so that a command which has been sent is waited
// for, looked after and recorded although the process is to end. Nothing new is
// begun with it.
func (e *Engine) graced(ctx context.Context) (context.Context, context.CancelFunc) {
	soft, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		e.opts.Clock.Wait(soft, e.opts.Grace, nil)
		cancel(context.Cause(ctx))
	})
	return soft, func() {
		stop()
		cancel(context.Canceled)
	}
}
