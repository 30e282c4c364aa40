package pods

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/test/cluster"
	"github.com/gluster/anthill/test/rig"
)

// anthill is the program in the operator's image.
const anthill = "/usr/local/bin/anthill"

// followEvery is how often the journal is asked for new events.
const followEvery = 500 * time.Millisecond

// An Operator is the one that is installed.
type Operator struct{ site *Site }

// operatorPod is its only pod.
var operatorPod = cluster.PodRef{Namespace: rig.SystemNamespace, Pod: "anthill-operator-0", Container: "operator"}

// Pod is the operator's pod as it is now.
func (o *Operator) Pod(ctx context.Context) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	err := o.site.Client.Get(ctx, client.ObjectKey{Namespace: operatorPod.Namespace, Name: operatorPod.Pod}, pod)
	if err != nil {
		return nil, fmt.Errorf("looking at the operator's pod: %w", err)
	}
	return pod, nil
}

// AwaitReady waits until a container of the operator other than the one with the
// id not is ready.
func (o *Operator) AwaitReady(ctx context.Context, max time.Duration, not string) error {
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name = operatorPod.Namespace, operatorPod.Pod
	err := o.site.Await(ctx, max, pod, func() string {
		if id := containerID(pod); id == "" || id == not {
			return "the operator was not started"
		}
		return notReady(pod)
	})
	if err != nil {
		log, _ := o.site.Env.Logs(context.WithoutCancel(ctx), operatorPod, 15)
		return fmt.Errorf("%w\nend of the operator's log:\n%s", err, log)
	}
	return nil
}

// containerID is the id of the container of a pod with one; empty: none was
// started.
func containerID(pod *corev1.Pod) string {
	if len(pod.Status.ContainerStatuses) != 1 {
		return ""
	}
	return pod.Status.ContainerStatuses[0].ContainerID
}

// notReady says why a pod is not ready; empty: it is.
func notReady(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return ""
		}
	}
	for _, c := range pod.Status.ContainerStatuses {
		if w := c.State.Waiting; w != nil {
			return fmt.Sprintf("container %s: %s %s", c.Name, w.Reason, w.Message)
		}
	}
	for _, c := range pod.Status.Conditions {
		if c.Status != corev1.ConditionTrue && c.Message != "" {
			return c.Message
		}
	}
	return "it is not ready"
}

// Kill ends the operator without a chance to put anything in order, with SIGKILL
// where the nodes are ours, else by deleting its pod without grace; and returns
// the id of the container that it was.
func (o *Operator) Kill(ctx context.Context) (string, error) {
	pod, err := o.Pod(ctx)
	if err != nil {
		return "", err
	}
	if o.site.Env.Ours() {
		return containerID(pod), o.site.Env.KillContainer(ctx, operatorPod)
	}
	uid := pod.UID
	if err := o.site.Client.Delete(ctx, pod, client.GracePeriodSeconds(0), client.Preconditions{UID: &uid}); err != nil {
		return "", fmt.Errorf("killing the operator's pod: %w", err)
	}
	return containerID(pod), nil
}

// CLI runs the anthill command line in the operator's pod, as `kubectl exec`
// does, and returns its standard output.
func (o *Operator) CLI(ctx context.Context, args ...string) (string, error) {
	out, err := o.site.Env.Exec(ctx, operatorPod, append([]string{anthill}, args...)...)
	return string(out), err
}

// Follow reads the journal from an event on; it goes on across restarts of the
// pod. It is a narration.Source.
func (o *Operator) Follow(ctx context.Context, from journal.Seq, each func(journal.Event) error) error {
	for ctx.Err() == nil {
		// It fails while there is no pod, and when there is no new event.
		if out, err := o.events(ctx, from); err == nil {
			events, err := parseEvents(out)
			if err != nil {
				return err
			}
			for _, ev := range events {
				if err := each(ev); err != nil {
					return err
				}
				from = ev.Seq + 1
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(followEvery):
		}
	}
	return nil
}

// Events reads the journal from an event on.
func (o *Operator) Events(ctx context.Context, from journal.Seq) ([]journal.Event, error) {
	out, err := o.events(ctx, from)
	if err != nil {
		return nil, err
	}
	return parseEvents(out)
}

func (o *Operator) events(ctx context.Context, from journal.Seq) ([]byte, error) {
	return o.site.Env.Exec(ctx, operatorPod, anthill, "journal", "events", "--from", strconv.FormatUint(uint64(from), 10), "-o", "ndjson")
}

// parseEvents reads what `anthill journal events -o ndjson` prints.
func parseEvents(out []byte) ([]journal.Event, error) {
	var events []journal.Event
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, len(out)+1)
	for lines.Scan() {
		var item struct {
			Seq       journal.Seq     `json:"seq"`
			Epoch     journal.Epoch   `json:"epoch"`
			Time      time.Time       `json:"time"`
			Type      journal.Type    `json:"type"`
			Operation string          `json:"operation"`
			Step      string          `json:"step"`
			Attempt   int             `json:"attempt"`
			Data      json.RawMessage `json:"data"`
		}
		if err := json.Unmarshal(lines.Bytes(), &item); err != nil {
			return nil, fmt.Errorf("reading an event: %w", err)
		}
		ev := journal.Event{Seq: item.Seq, Epoch: item.Epoch, Time: item.Time.UnixNano(), Type: item.Type, Step: item.Step, Attempt: item.Attempt, Data: item.Data}
		if item.Operation != "" {
			op, err := uuid.Parse(item.Operation)
			if err != nil {
				return nil, fmt.Errorf("reading an event: %w", err)
			}
			ev.Op = op
		}
		events = append(events, ev)
	}
	return events, lines.Err()
}

// Metric is the sum of the running operator's series of this name with all these
// labels, each as `name="value"`.
func (o *Operator) Metric(ctx context.Context, name string, labels ...string) (float64, error) {
	body, err := o.site.Env.Client().CoreV1().RESTClient().Get().Namespace(operatorPod.Namespace).Resource("pods").
		Name(operatorPod.Pod + ":8080").SubResource("proxy").Suffix("metrics").DoRaw(ctx)
	if err != nil {
		return 0, fmt.Errorf("reading the operator's metrics: %w", err)
	}
	return rig.SumOf(bytes.NewReader(body), name, labels...)
}
