package probe

import (
	"bufio"
	"context"
	"fmt"
)

// Socket is where the first process of a pod answers; Greeting is what it says.
const (
	Socket   = "/run/anthill/node.sock"
	Greeting = "anthill node serves\n"
)

// Alive reports whether the first process of the pod serves. Nothing else
// counts: not glusterd, not its bricks, not what they heal.
func Alive(ctx context.Context, socket string) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	conn, err := dial(ctx, socket)
	if err != nil {
		return fmt.Errorf("asking the first process: %w", err)
	}
	defer conn.Close()
	said, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return fmt.Errorf("asking the first process: %w", err)
	}
	if said != Greeting {
		return fmt.Errorf("the first process says %.50q", said)
	}
	return nil
}
