package pods

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/test/await"
	"github.com/gluster/anthill/test/cluster"
	"github.com/gluster/anthill/test/local/writer"
	"github.com/gluster/anthill/test/rig"
)

// Deadlines of a client.
const (
	clientMax     = 3 * time.Minute // until its pod runs and the volume is mounted
	writerStopMax = 3 * time.Minute // a last reading of all files, stalls included
	commandMax    = 30 * time.Second
)

// Paths in a client's pod.
const (
	mountPoint    = "/mnt"
	writerProgram = "/work/writer"
	writerReport  = "/work/report.json"
	writerLog     = "/work/writer.log"
	writerPID     = "/work/writer.pid"
)

// A Client is a pod that has mounted a volume through FUSE, as any pod of the
// cluster's network may. It is privileged for /dev/fuse and mounting.
type Client struct {
	site *Site
	ref  cluster.PodRef
}

// Mount starts a pod that mounts the volume, asking one server for the volume's
// layout, and waits until it has.
func (s *Site) Mount(ctx context.Context, namespace, name, server, volume string) (*Client, error) {
	return s.mount(ctx, namespace, name, server, volume, func(*corev1.Pod) {})
}

// mount is Mount with a pod that adjust has changed.
func (s *Site) mount(ctx context.Context, namespace, name, server, volume string, adjust func(*corev1.Pod)) (*Client, error) {
	yes, grace := true, int64(5)
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		RestartPolicy:                 corev1.RestartPolicyNever,
		TerminationGracePeriodSeconds: &grace,
		Volumes:                       []corev1.Volume{{Name: "work", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
		Containers: []corev1.Container{{
			Name: "client", Image: s.NodeImage(), ImagePullPolicy: corev1.PullIfNotPresent,
			// The pod's first process is the mount: with it the pod ends.
			Command: []string{"/usr/sbin/glusterfs", "--no-daemon", "--log-file=/dev/stdout", "--log-level=WARNING",
				"--process-name=fuse", "--volfile-server=" + server, "--volfile-id=/" + volume, mountPoint},
			SecurityContext: &corev1.SecurityContext{Privileged: &yes},
			VolumeMounts:    []corev1.VolumeMount{{Name: "work", MountPath: filepath.Dir(writerProgram)}},
		}},
	}}
	pod.Namespace, pod.Name = namespace, name
	adjust(pod)
	if err := s.Client.Create(ctx, pod); err != nil {
		return nil, fmt.Errorf("starting client %q: %w", name, err)
	}
	c := &Client{site: s, ref: cluster.PodRef{Namespace: namespace, Pod: name, Container: "client"}}
	return c, c.until(ctx, clientMax, "the volume is mounted", func(ctx context.Context) error {
		out, err := s.Env.Exec(ctx, c.ref, "stat", "-f", "-c", "%T", mountPoint)
		if err == nil && string(out) != "fuseblk\n" && string(out) != "fuse\n" {
			err = fmt.Errorf("the file system there is %q", out)
		}
		return err
	})
}

// writerPause lets the writer leave the machine to what happens under it.
const writerPause = 50 * time.Millisecond

// StartWriter copies the writer into the pod and starts it on the volume; it
// goes on by itself.
func (c *Client) StartWriter(ctx context.Context) error {
	return c.startWriter(ctx, writer.Config{Pause: writerPause})
}

// startWriter is StartWriter with what else the writer is told.
func (c *Client) startWriter(ctx context.Context, config writer.Config) error {
	program, err := rig.BuildWriter(ctx, c.site.Checkout, filepath.Join(c.site.Checkout, "bin"))
	if err != nil {
		return err
	}
	f, err := os.Open(program)
	if err != nil {
		return fmt.Errorf("copying the writer: %w", err)
	}
	defer f.Close()
	// Constant scripts: what they need comes as an argument.
	if _, err := c.site.Env.ExecWith(ctx, c.ref, f, "/bin/sh", "-c", `cat > "$0" && chmod +x "$0"`, writerProgram); err != nil {
		return fmt.Errorf("copying the writer: %w", err)
	}
	config.Dir, config.Report = mountPoint+"/writer", writerReport
	order, err := json.Marshal(config)
	if err != nil {
		return err
	}
	if _, err := c.site.Env.Exec(ctx, c.ref, "/bin/sh", "-c", `setsid "$0" "$1" </dev/null >"$2" 2>&1 & echo $! > "$3"`,
		writerProgram, string(order), writerLog, writerPID); err != nil {
		return fmt.Errorf("starting the writer: %w", err)
	}
	return c.until(ctx, commandMax, "the writer has written files", func(ctx context.Context) error {
		r, err := c.Report(ctx)
		if err == nil && r.Written == 0 {
			err = errors.New("it has not")
		}
		return err
	})
}

// Report says how the writer fares.
func (c *Client) Report(ctx context.Context) (writer.Report, error) {
	var r writer.Report
	out, err := c.site.Env.Exec(ctx, c.ref, "cat", writerReport)
	if err != nil {
		return r, fmt.Errorf("reading the writer's report: %w", err)
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return r, fmt.Errorf("reading the writer's report: %w", err)
	}
	return r, nil
}

// StopWriter lets the writer read every file once more and end, and returns its
// last report.
func (c *Client) StopWriter(ctx context.Context) (r writer.Report, err error) {
	if _, err := c.site.Env.Exec(ctx, c.ref, "/bin/sh", "-c", `kill -TERM "$(cat "$0")"`, writerPID); err != nil {
		return r, fmt.Errorf("stopping the writer: %w", err)
	}
	return r, c.until(ctx, writerStopMax, "the writer has ended", func(ctx context.Context) error {
		if r, err = c.Report(ctx); err == nil && !r.Done {
			err = fmt.Errorf("a call is waiting for %d ms", r.WaitingMillis)
		}
		return err
	})
}

// Progress waits until the writer has written so many files more.
func (c *Client) Progress(ctx context.Context, files int64) error {
	begun := int64(-1)
	return c.until(ctx, time.Minute, "the client has written more", func(ctx context.Context) error {
		r, err := c.Report(ctx)
		if begun < 0 && err == nil {
			begun = r.Written
		}
		if err == nil && r.Written < begun+files {
			err = fmt.Errorf("%d files since", r.Written-begun)
		}
		return err
	})
}

// Unmount ends the pod and so the mount.
func (c *Client) Unmount(ctx context.Context) error {
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name = c.ref.Namespace, c.ref.Pod
	return client.IgnoreNotFound(c.site.Client.Delete(ctx, pod))
}

// until waits for something of the client; the error has the end of its log.
func (c *Client) until(ctx context.Context, max time.Duration, what string, probe func(context.Context) error) error {
	err := await.Until(ctx, max, what, "", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, commandMax)
		defer cancel()
		return probe(ctx)
	})
	if err != nil {
		log, _ := c.site.Env.Logs(context.WithoutCancel(ctx), c.ref, await.TailLines)
		return fmt.Errorf("%w\nend of the log of client %s:\n%s", err, c.ref.Pod, log)
	}
	return nil
}

// Verify reads every file of a report and compares.
func (c *Client) Verify(ctx context.Context, r writer.Report) error {
	out, err := c.site.Env.Exec(ctx, c.ref, "/bin/sh", "-c", `cd "$0" && sha256sum -- *`, r.Dir)
	if err != nil {
		return fmt.Errorf("reading the writer's files: %w", err)
	}
	sums := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) == 2 {
			sums[f[1]] = f[0]
		}
	}
	if len(r.Files) == 0 || len(sums) != len(r.Files) {
		return fmt.Errorf("%s has %d files, want %d", r.Dir, len(sums), len(r.Files))
	}
	for _, f := range r.Files {
		if sums[f.Name] != f.SHA256 {
			return fmt.Errorf("%s has SHA-256 %q, want %s", f.Name, sums[f.Name], f.SHA256)
		}
	}
	return nil
}
