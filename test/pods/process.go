package pods

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gluster/anthill/test/cluster"
)

// PID is the operator's process, as the host counts. It needs a cluster of ours.
func (o *Operator) PID(ctx context.Context) (int, error) {
	pod, err := o.Pod(ctx)
	if err != nil {
		return 0, err
	}
	node := o.site.Env.NodeNamed(pod.Spec.NodeName)
	if node == nil {
		return 0, fmt.Errorf("finding the operator's process on %q: %w", pod.Spec.NodeName, cluster.ErrNotOurs)
	}
	_, id, ok := strings.Cut(containerID(pod), "://")
	if !ok {
		return 0, fmt.Errorf("finding the operator's process: no container runs")
	}
	// Every process of a container has its id in the name of its control group.
	files, err := filepath.Glob("/proc/[0-9]*/cgroup")
	if err != nil {
		return 0, err
	}
	for _, f := range files {
		groups, err := os.ReadFile(f)
		if err != nil || !strings.Contains(string(groups), id) {
			continue // it may have ended
		}
		name, err := os.ReadFile(filepath.Join(filepath.Dir(f), "comm"))
		if err == nil && strings.TrimSpace(string(name)) == "anthill" {
			return strconv.Atoi(filepath.Base(filepath.Dir(f)))
		}
	}
	return 0, fmt.Errorf("finding the operator's process: no process is of container %s", id)
}
