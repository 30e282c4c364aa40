package api

import (
	"context"
	"fmt"
	"os"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/gluster/anthill/test/local"
)

// apiServer returns access to the API server under test, and what takes it down
// again.
func apiServer(ctx context.Context) (*rest.Config, func() error, error) {
	if file := os.Getenv("ANTHILL_TEST_KUBECONFIG"); file != "" {
		c, err := clientcmd.BuildConfigFromFlags("", file)
		return c, func() error { return nil }, err
	}
	env, err := local.Up(ctx, local.Config{
		Instance:  "api",
		APIServer: true,
		Fresh:     true,
		Log:       func(line string) { fmt.Fprintln(os.Stderr, line) },
	})
	if err != nil {
		return nil, nil, err
	}
	down := func() error { return env.Down(context.WithoutCancel(ctx)) }
	c, err := env.APIServer.RestConfig()
	if err != nil {
		return nil, down, err
	}
	return c, down, nil
}
