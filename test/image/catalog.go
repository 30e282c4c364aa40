package image

import (
	"context"
	"path/filepath"
)

// Suites of Debian, by the version of GlusterFS they have.
const (
	Gluster10 = "bookworm" // GlusterFS 10.3
	Gluster11 = "trixie"   // GlusterFS 11.1
)

// nodePackages is what glusterd, its bricks and their file systems need.
var nodePackages = []string{"glusterfs-server", "glusterfs-client", "xfsprogs", "attr", "iproute2", "procps"}

// searchPath is of the images.
const searchPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Where the operator and the gate lie in images.
const (
	anthillPath = "/usr/local/bin/anthill"
	gatePath    = "/usr/local/bin/anthill-gate"
)

// NodeName is the name of the image of a GlusterFS node.
func NodeName(suite string) string { return "localhost/anthill/node:" + suite }

// Names of the other images.
const (
	OperatorName = "localhost/anthill/operator:dev"
	PauseName    = "localhost/anthill/pause:1"
)

// Node is the image of a GlusterFS node: deploy/images/node. Its own layer is
// what Own made.
func Node(ctx context.Context, suite string, own Layer, logf func(string, ...any)) (Image, error) {
	base, err := rootfs{suite: suite, packages: nodePackages}.layer(ctx, logf)
	if err != nil {
		return Image{}, err
	}
	return Image{
		Name: NodeName(suite), Layers: []Layer{base, own},
		Entrypoint: []string{anthillPath}, Cmd: []string{"node", "run"}, Env: []string{searchPath},
	}, nil
}

// Operator is the image of the operator: deploy/images/operator.
func Operator(own Layer) Image {
	return Image{
		Name: OperatorName, Layers: []Layer{own},
		Entrypoint: []string{anthillPath}, Cmd: []string{"manager"}, Env: []string{searchPath}, User: "65532:65532",
	}
}

// Own is the layer with what the checkout builds: the operator and the gate.
func Own(dir, anthill, gate string) (Layer, error) {
	return LayerOf(filepath.Join(dir, "anthill.tar"),
		File{Path: anthillPath, From: anthill, Mode: 0o755},
		File{Path: gatePath, From: gate, Mode: 0o755},
	)
}

// Pause is the image of the process that holds a pod's namespaces.
func Pause(dir, binary string) (Image, error) {
	l, err := LayerOf(filepath.Join(dir, "pause.tar"), File{Path: "/pause", From: binary, Mode: 0o755})
	if err != nil {
		return Image{}, err
	}
	return Image{Name: PauseName, Layers: []Layer{l}, Entrypoint: []string{"/pause"}, User: "65535:65535"}, nil
}
