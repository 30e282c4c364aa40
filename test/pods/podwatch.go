package pods

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/gluster/anthill/apis/v1alpha1"
)

// A PodWatch notes what becomes of the pods of a cluster, without a gap.
type PodWatch struct {
	site *Site
	list metav1.ListOptions
	ns   string
	end  context.CancelFunc
	done chan struct{}

	mu    sync.Mutex
	ready map[string]bool        // by name; those that are gone are not ready
	uids  map[string][]types.UID // of each, in their order
	down  []string               // the most that were not ready at once
	err   error
}

// errWatch is what a watch that ended early has missed.
var errWatch = errors.New("the watch of pods ended early")

// WatchPods begins to watch. All pods there are counted as ready or not as they
// are now.
func (s *Site) WatchPods(ctx context.Context, namespace, cluster string) (*PodWatch, error) {
	ctx, cancel := context.WithCancel(ctx)
	w := &PodWatch{
		site: s, ns: namespace, end: cancel, done: make(chan struct{}),
		list:  metav1.ListOptions{LabelSelector: v1alpha1.LabelCluster + "=" + cluster},
		ready: map[string]bool{}, uids: map[string][]types.UID{},
	}
	pods, err := s.Env.Client().CoreV1().Pods(namespace).List(ctx, w.list)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("listing pods: %w", err)
	}
	for i := range pods.Items {
		w.note(watch.Modified, &pods.Items[i])
	}
	w.list.ResourceVersion = pods.ResourceVersion
	go func() {
		defer close(w.done)
		w.err = w.follow(ctx)
	}()
	return w, nil
}

// follow goes on from where it was whenever the API server ends a watch.
func (w *PodWatch) follow(ctx context.Context) error {
	for ctx.Err() == nil {
		events, err := w.site.Env.Client().CoreV1().Pods(w.ns).Watch(ctx, w.list)
		if err != nil {
			return errors.Join(ctx.Err(), errWatch, err)
		}
		for ev := range events.ResultChan() {
			pod, ok := ev.Object.(*corev1.Pod)
			if !ok {
				events.Stop()
				if ctx.Err() != nil {
					break // what is read then is cut short
				}
				return fmt.Errorf("%w: %v", errWatch, ev.Object)
			}
			w.list.ResourceVersion = pod.ResourceVersion
			w.note(ev.Type, pod)
		}
		events.Stop()
	}
	return ctx.Err()
}

func (w *PodWatch) note(kind watch.EventType, pod *corev1.Pod) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if uids := w.uids[pod.Name]; !slices.Contains(uids, pod.UID) {
		w.uids[pod.Name] = append(uids, pod.UID)
	}
	w.ready[pod.Name] = kind != watch.Deleted && pod.DeletionTimestamp == nil && notReady(pod) == ""
	var down []string
	for name, ready := range w.ready {
		if !ready {
			down = append(down, name)
		}
	}
	if len(down) > len(w.down) {
		slices.Sort(down)
		w.down = down
	}
}

// Stop ends the watch; the error says that something was missed.
func (w *PodWatch) Stop() error {
	w.end()
	<-w.done
	if errors.Is(w.err, context.Canceled) {
		return nil
	}
	return w.err
}

// DownAtOnce are the most pods that were not ready at one time.
func (w *PodWatch) DownAtOnce() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.down)
}

// Restarts says how often each pod was made anew.
func (w *PodWatch) Restarts() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := map[string]int{}
	for name, uids := range w.uids {
		out[name] = len(uids) - 1
	}
	return out
}
