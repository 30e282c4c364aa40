package cluster

import (
	"context"
	"fmt"
)

// TagImage gives an image that every running node has a second name, as a
// registry does with a tag.
func (e *Env) TagImage(ctx context.Context, name, as string) error {
	if e.local == nil {
		return fmt.Errorf("naming image %q %q: %w", name, as, ErrNotOurs)
	}
	return e.each(ctx, func(ctx context.Context, n *Node) error {
		if _, err := n.ctr(ctx, "images", "tag", "--force", name, as); err != nil {
			return fmt.Errorf("naming image %q %q on %s: %w", name, as, n.Name(), err)
		}
		return nil
	})
}
