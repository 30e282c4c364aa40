package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/gluster/anthill/test/atomicfile"
	"github.com/gluster/anthill/test/await"
	"github.com/gluster/anthill/test/image"
	"github.com/gluster/anthill/test/program"
	"github.com/gluster/anthill/test/rig"
)

// loadMax bounds unpacking one image on one node.
const loadMax = 5 * time.Minute

// buildImages builds what the checkout has and makes the images of the
// configuration from it. It changes nothing on nodes.
func (e *Env) buildImages(ctx context.Context) error {
	dir := e.file("images")
	bin := filepath.Join(dir, "bin")
	anthill, err := rig.Build(ctx, e.cfg.Checkout, bin)
	if err != nil {
		return err
	}
	pause := filepath.Join(bin, "pause")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", pause, "./image/pause")
	cmd.Dir = filepath.Join(e.cfg.Checkout, "test")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building pause: %w: %s", errors.Join(err, context.Cause(ctx)), bytes.TrimSpace(out))
	}
	first, err := image.Pause(dir, pause)
	if err != nil {
		return err
	}
	own, err := image.Own(dir, anthill, filepath.Join(bin, "anthill-gate"))
	if err != nil {
		return err
	}
	all := []image.Image{first, image.Operator(own)}
	for _, suite := range e.cfg.Suites {
		i, err := image.Node(ctx, suite, own, e.cfg.logf)
		if err != nil {
			return err
		}
		all = append(all, i)
	}
	data, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("recording the images: %w", err)
	}
	return atomicfile.Write(e.imagesFile(), data, 0o600)
}

// imagesFile records which images every node has.
func (e *Env) imagesFile() string { return e.file("images.json") }

// images lists the images that every node has. There are none before the first
// are made.
func (e *Env) images() []image.Image {
	data, err := os.ReadFile(e.imagesFile())
	if err != nil {
		return nil
	}
	var out []image.Image
	if json.Unmarshal(data, &out) != nil {
		return nil
	}
	return out
}

// LoadImages builds the checkout's images again, with node images of the given
// suites of Debian or, without any, of those it had, and gives them to all nodes that run. Containers that run keep what
// they have.
func (e *Env) LoadImages(ctx context.Context, suites ...string) error {
	if e.local == nil {
		return fmt.Errorf("loading images: %w", ErrNotOurs)
	}
	if len(suites) > 0 {
		e.cfg.Suites = suites
		if err := e.settle(); err != nil {
			return err
		}
	}
	if err := e.buildImages(ctx); err != nil {
		return err
	}
	return e.each(ctx, func(ctx context.Context, n *Node) error { return n.load(ctx, e.images()...) })
}

// load gives the node the images that it does not have.
func (n *Node) load(ctx context.Context, images ...image.Image) error {
	has := n.loaded()
	for _, i := range images {
		id, err := i.ID()
		if err != nil {
			return err
		}
		if has[i.Name] == id {
			continue
		}
		if err := n.loadOne(ctx, i); err != nil {
			return fmt.Errorf("loading image %q on %s: %w", i.Name, n.Name(), err)
		}
		has[i.Name] = id
		data, err := json.Marshal(has)
		if err != nil {
			return err
		}
		if err := atomicfile.Write(n.loadedFile(), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// loadOne streams the image to the node's containerd.
func (n *Node) loadOne(ctx context.Context, i image.Image) error {
	ctx, cancel := context.WithTimeoutCause(ctx, loadMax, fmt.Errorf("not within %v", loadMax))
	defer cancel()
	cmd := n.guest.Command(ctx, inside(program.Containerd, "ctr"), "--namespace", "k8s.io", "images", "import", "-")
	archive, w := io.Pipe()
	defer archive.Close()
	go func() { w.CloseWithError(i.WriteArchive(w)) }()
	var said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = archive, &said, &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w: %s", errors.Join(err, context.Cause(ctx)), await.LastLines(said.String(), await.TailLines))
	}
	return nil
}

// loadedFile records which images the node has, by name. It lies beside the
// node's disk and goes with it.
func (n *Node) loadedFile() string { return filepath.Join(n.guest.Dir(), "images.json") }

func (n *Node) loaded() map[string]string {
	out := map[string]string{}
	if data, err := os.ReadFile(n.loadedFile()); err == nil {
		if json.Unmarshal(data, &out) != nil {
			return map[string]string{}
		}
	}
	return out
}

// Variables that name the images of a cluster that KUBECONFIG names: its nodes
// get them from where its engine gets them.
const (
	nodeImageVariable     = "ANTHILL_NODE_IMAGE" // with the suite as its tag
	operatorImageVariable = "ANTHILL_OPERATOR_IMAGE"
)

// NodeImage is the name of the image of a GlusterFS node.
func (e *Env) NodeImage(suite string) string {
	if name := os.Getenv(nodeImageVariable); !e.Ours() && name != "" {
		return name + ":" + suite
	}
	return image.NodeName(suite)
}

// OperatorImage is the name of the operator's image.
func (e *Env) OperatorImage() string {
	if name := os.Getenv(operatorImageVariable); !e.Ours() && name != "" {
		return name
	}
	return image.OperatorName
}
