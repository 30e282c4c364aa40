package object

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/planner"
)

// devicesDir is where block devices appear in the container.
const devicesDir = "/dev/anthill"

func devicePath(name string) string { return devicesDir + "/" + name }

// stateVolume is the volume in which a pod keeps who it is; it survives the pod.
const stateVolume = "state"

// stateDirs are the folders of the state volume and where they are mounted:
// glusterd's identity, the gate's state, the gate itself, and glusterd's logs
// with the history of its commands, from which it is told how one ended.
var stateDirs = []struct{ sub, path string }{
	{"glusterd", "/var/lib/glusterd"},
	{"anthill", "/var/lib/anthill"},
	{"lib", "/usr/local/lib/anthill"},
	{"log", "/var/log/glusterfs"},
}

func volumes(p planner.PodSpec) (vs []corev1.Volume, mounts []corev1.VolumeMount, devices []corev1.VolumeDevice) {
	vs = append(vs, corev1.Volume{Name: stateVolume, VolumeSource: state(p.State)})
	for _, d := range stateDirs {
		mounts = append(mounts, corev1.VolumeMount{Name: stateVolume, SubPath: d.sub, MountPath: d.path})
	}
	for _, s := range p.Storage {
		name := "storage-" + s.Name
		switch {
		case s.Device != "":
			vs = append(vs, corev1.Volume{Name: name, VolumeSource: hostPath(s.Device, corev1.HostPathBlockDev)})
			mounts = append(mounts, corev1.VolumeMount{Name: name, MountPath: devicePath(s.Name)})
		case s.Block:
			vs = append(vs, corev1.Volume{Name: name, VolumeSource: claim(s.Claim)})
			devices = append(devices, corev1.VolumeDevice{Name: name, DevicePath: devicePath(s.Name)})
		default:
			vs = append(vs, corev1.Volume{Name: name, VolumeSource: claim(s.Claim)})
			mounts = append(mounts, corev1.VolumeMount{Name: name, MountPath: v1alpha1.BricksDir + "/" + s.Name})
		}
	}
	return vs, mounts, devices
}

func state(s planner.PodState) corev1.VolumeSource {
	if s.Claim != "" {
		return claim(s.Claim)
	}
	return hostPath(s.HostPath, corev1.HostPathDirectoryOrCreate)
}

func claim(name string) corev1.VolumeSource {
	return corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}
}

func hostPath(path string, kind corev1.HostPathType) corev1.VolumeSource {
	return corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: path, Type: &kind}}
}
