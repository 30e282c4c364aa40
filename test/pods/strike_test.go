package pods

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/test/seed"
)

// Kills in a whole run, and how far apart in time they are at most.
const (
	strikesLeast = 20
	strikeWait   = 6 * time.Second // before each
	darkMax      = 5 * time.Second // for which something stays down
)

// A striker kills one thing after the other, as its randomness says.
type striker struct {
	*trial
	rng   *rand.Rand
	begun time.Time
	done  []string // what was killed, and when
}

// A strike kills something and waits until it is back.
type strike struct {
	name string
	do   func(*striker, context.Context) (what string, err error)
}

var strikes = []strike{
	{"operator", (*striker).operator},
	{"operator's pod", (*striker).operatorPod},
	{"operator's host", (*striker).operatorHost},
	{"API server", (*striker).apiServer},
	{"server", (*striker).server},
}

func newStriker(p *trial, rng *rand.Rand) *striker {
	return &striker{trial: p, rng: rng, begun: time.Now()}
}

// run kills each thing once in random order; in a whole run as often as there
// are kills. At most one server is down at a time.
func (k *striker) run(t *testing.T, grown *atomic.Bool) {
	t.Helper()
	least := len(strikes)
	if seed.Full() {
		least = strikesLeast
	}
	for len(k.done) < least {
		for _, i := range k.rng.Perm(len(strikes)) {
			k.pause(t.Context(), strikeWait)
			at := time.Since(k.begun)
			what, err := strikes[i].do(k, t.Context())
			line := fmt.Sprintf("%2d. after %5.1f s, grown %-5v: %s: %s", len(k.done)+1, at.Seconds(), grown.Load(), strikes[i].name, what)
			k.done = append(k.done, line)
			t.Log(line)
			must(t, err)
		}
	}
}

// operator ends the operator's process.
func (k *striker) operator(ctx context.Context) (string, error) {
	was := ""
	if err := k.until(ctx, "the operator is killed", func(ctx context.Context) (err error) {
		was, err = k.Operator.Kill(ctx) // fails between two lives
		return err
	}); err != nil {
		return "SIGKILL", err
	}
	return "SIGKILL", k.Operator.AwaitReady(ctx, slow, was)
}

// operatorPod deletes the operator's pod without grace.
func (k *striker) operatorPod(ctx context.Context) (string, error) {
	const what = "deleted without grace"
	pod, err := k.Operator.Pod(ctx)
	if err != nil {
		return what, err
	}
	uid := pod.UID
	if err := k.Client.Delete(ctx, pod, client.GracePeriodSeconds(0), client.Preconditions{UID: &uid}); err != nil {
		return what, fmt.Errorf("deleting the operator's pod: %w", err)
	}
	return what, k.Operator.AwaitReady(ctx, slow, containerID(pod))
}

// operatorHost pulls the plug of the operator's host, and so of the server on
// it.
func (k *striker) operatorHost(ctx context.Context) (string, error) {
	pod, err := k.Operator.Pod(ctx)
	if err != nil {
		return "", err
	}
	host := k.Env.NodeNamed(pod.Spec.NodeName)
	if host == nil || host.Name() == k.host.Name() {
		return "", fmt.Errorf("the operator is on %s, which must be a node without a client", pod.Spec.NodeName)
	}
	what := host.Name() + " without power"
	if err := host.Kill(ctx); err != nil {
		return what, err
	}
	k.pause(ctx, darkMax)
	if err := host.Restore(ctx); err != nil {
		return what, err
	}
	if err := k.Operator.AwaitReady(ctx, slow, containerID(pod)); err != nil {
		return what, err
	}
	return what, k.sound(ctx)
}

// apiServer ends the API server and starts it again.
func (k *striker) apiServer(ctx context.Context) (string, error) {
	const what = "SIGKILL"
	api := k.Env.Local().APIServer
	if err := api.Kill(ctx); err != nil {
		return what, err
	}
	k.pause(ctx, darkMax)
	if err := api.Start(ctx); err != nil {
		return what, err
	}
	return what, k.Operator.AwaitReady(ctx, slow, "")
}

// server ends the first process of one server's container, once all is well, and
// waits until it is again.
func (k *striker) server(ctx context.Context) (string, error) {
	node := NodeName(pool, k.rng.IntN(3))
	what := "SIGKILL of " + node
	if err := k.sound(ctx); err != nil {
		return what, err
	}
	pod, err := k.pod(ctx, node)
	if err != nil {
		return what, err
	}
	if err := k.Env.KillContainer(ctx, k.container(node)); err != nil {
		return what, err
	}
	was := containerID(pod)
	if err := k.Await(ctx, slow, pod, func() string {
		if id := containerID(pod); id == "" || id == was {
			return "its container was not started again"
		}
		return notReady(pod)
	}); err != nil {
		return what, err
	}
	return what, k.sound(ctx)
}
