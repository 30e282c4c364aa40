package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// healthz asks a component of Kubernetes on the host whether it is healthy.
func (e *Env) healthz(port string) func(context.Context) error {
	return func(ctx context.Context) error {
		client, err := e.httpClient()
		if err != nil {
			return err
		}
		defer client.CloseIdleConnections()
		return get(ctx, client, "https://"+net.JoinHostPort(e.local.HostIP(), port)+"/healthz")
	}
}

// probeMax bounds one question.
const probeMax = 5 * time.Second

// errUnhealthy is what a component says of itself.
var errUnhealthy = errors.New("unhealthy")

func get(ctx context.Context, client *http.Client, url string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, probeMax, fmt.Errorf("no answer within %v", probeMax))
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s: %w", url, response.Status, errUnhealthy)
	}
	return nil
}

// resolves asks CoreDNS for the API server's own service.
func (e *Env) resolves(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, probeMax, fmt.Errorf("no answer within %v", probeMax))
	defer cancel()
	server := net.JoinHostPort(e.local.HostIP(), "53")
	r := net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, server)
	}}
	_, err := r.LookupHost(ctx, "kubernetes.default.svc."+clusterDomain+".")
	return err
}
