package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/test/loop"
)

// Storage classes of every cluster of ours.
const (
	ClassMovable = "movable"     // dynamic: a folder that every node sees
	ClassBlock   = "local-block" // PersistentVolumes of devices, as they are
	ClassXFS     = "local-xfs"   // PersistentVolumes of devices, formatted by the kubelet
)

// deviceMiBLeast is what mkfs.xfs wants.
const deviceMiBLeast = 300

// deviceSuffix is of the files of devices.
const deviceSuffix = ".img"

var (
	deviceName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$`)

	errDeviceName = errors.New("want lower-case letters, digits and dashes, at most 32")
	errDeviceSize = fmt.Errorf("want at least %d MiB", deviceMiBLeast)
)

// A Device is a disk of a node: a loop device, blank when it is new. It stays
// with the node over kills and restarts.
type Device struct {
	Node *Node
	Name string
	MiB  int
}

// Path names the device on its node, also after a restart, when the kernel may
// number it anew.
func (d *Device) Path() string { return "/dev/disk/by-id/anthill-" + d.Name }

// AddDevice gives the running node one more disk, whose name is unique on the
// node. One that is there already is kept as it is.
func (n *Node) AddDevice(name string, sizeMiB int) (*Device, error) {
	switch {
	case !deviceName.MatchString(name):
		return nil, fmt.Errorf("adding device %q to %s: %w", name, n.Name(), errDeviceName)
	case sizeMiB < deviceMiBLeast:
		return nil, fmt.Errorf("adding device %q of %d MiB to %s: %w", name, sizeMiB, n.Name(), errDeviceSize)
	}
	if err := os.MkdirAll(n.deviceDir(), 0o700); err != nil {
		return nil, fmt.Errorf("adding device %q to %s: %w", name, n.Name(), err)
	}
	d := &Device{Node: n, Name: name, MiB: sizeMiB}
	if err := loop.MakeBlank(d.image(), sizeMiB); err != nil {
		return nil, err
	}
	return d, d.attach()
}

// Devices lists the node's disks by name.
func (n *Node) Devices() ([]*Device, error) {
	entries, err := os.ReadDir(n.deviceDir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("listing the devices of %s: %w", n.Name(), err)
	}
	var out []*Device
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), deviceSuffix)
		if !ok {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return nil, fmt.Errorf("listing the devices of %s: %w", n.Name(), err)
		}
		out = append(out, &Device{Node: n, Name: name, MiB: int(info.Size() >> 20)})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out, nil
}

func (n *Node) deviceDir() string  { return filepath.Join(n.guest.Dir(), "devices") }
func (d *Device) image() string    { return filepath.Join(d.Node.deviceDir(), d.Name+deviceSuffix) }
func (d *Device) volume() string   { return d.Node.Name() + "-" + d.Name }
func (d *Device) quantity() string { return fmt.Sprintf("%dMi", d.MiB) }

// attach makes the loop device and shows it to the node.
func (d *Device) attach() error {
	device, err := loop.Hold(d.image())
	if err != nil {
		return err
	}
	return d.Node.guest.AddDevice(device, d.Path())
}

// attachDevices shows the node all the disks it has.
func (n *Node) attachDevices() error {
	all, err := n.Devices()
	if err != nil {
		return err
	}
	for _, d := range all {
		if err := d.attach(); err != nil {
			return err
		}
	}
	return nil
}

// PersistentVolume makes the PersistentVolume of the device: as a block device,
// or as an XFS that the kubelet makes when it is first mounted. It is retained
// when its claim goes, as a disk is.
func (d *Device) PersistentVolume(ctx context.Context, mode corev1.PersistentVolumeMode) (*corev1.PersistentVolume, error) {
	class, fsType := ClassBlock, (*string)(nil)
	if mode == corev1.PersistentVolumeFilesystem {
		xfs := "xfs"
		class, fsType = ClassXFS, &xfs
	}
	v := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: d.volume()},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(d.quantity())},
			AccessModes:                   []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			StorageClassName:              class,
			VolumeMode:                    &mode,
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				Local: &corev1.LocalVolumeSource{Path: d.Path(), FSType: fsType},
			},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{
					Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{d.Node.Name()},
				}}}},
			}},
		},
	}
	out, err := d.Node.env.client.CoreV1().PersistentVolumes().Create(ctx, v, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("making the PersistentVolume of device %q on %s: %w", d.Name, d.Node.Name(), err)
	}
	return out, nil
}
