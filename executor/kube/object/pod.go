package object

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/planner"
)

// binary is where our image has the program.
const binary = "/usr/local/bin/anthill"

// A pod that is told to stop has stopMax until it is killed; `anthill node run`
// gets stopMargin less, so that it unmounts and ends by itself.
const (
	stopMax    = 60 * time.Second
	stopMargin = 10 * time.Second
)

func pod(p planner.PodParams) corev1.PodSpec {
	grace := int64(stopMax / time.Second)
	no := false
	volumes, mounts, devices := volumes(p.PodSpec)
	var resources corev1.ResourceRequirements
	if p.Resources != nil {
		resources = *p.Resources.DeepCopy()
	}
	return corev1.PodSpec{
		Containers: []corev1.Container{{
			Name:  v1alpha1.ContainerName,
			Image: p.Image,
			// A pod that is started again must not depend on a registry.
			ImagePullPolicy: corev1.PullIfNotPresent,
			Command:         []string{binary, "node", "run"},
			Args:            args(p.Storage),
			Ports:           []corev1.ContainerPort{{Name: "glusterd", Protocol: corev1.ProtocolTCP, ContainerPort: glusterdPort}},
			VolumeMounts:    mounts,
			VolumeDevices:   devices,
			ReadinessProbe:  readiness(),
			LivenessProbe:   liveness(),
			SecurityContext: security(),
			Resources:       resources,
		}},
		Volumes:                       volumes,
		Affinity:                      affinity(p),
		Tolerations:                   p.Tolerations,
		PriorityClassName:             p.PriorityClass,
		TerminationGracePeriodSeconds: &grace,
		// glusterd asks nothing of the API server, and needs no variable for each
		// Service of the namespace.
		AutomountServiceAccountToken: &no,
		EnableServiceLinks:           &no,
	}
}

func args(storage []planner.PodStorage) []string {
	out := []string{fmt.Sprintf("--stop-timeout=%s", stopMax-stopMargin)}
	for _, s := range storage {
		if s.Device != "" || s.Block {
			out = append(out, "--storage", s.Name+"="+devicePath(s.Name))
		}
	}
	return out
}

// security is why the pod is privileged, and what it could not do otherwise:
//
//   - open the block devices it was given, format and mount them: the device
//     cgroup of a container that is not privileged denies devices of hostPath
//     volumes, and mount needs CAP_SYS_ADMIN and no AppArmor profile against it;
//   - write the extended attributes trusted.*, in which bricks keep everything:
//     CAP_SYS_ADMIN of the host's own user namespace;
//   - use /dev/fuse, with which replace-brick and geo-replication mount volumes.
//
// It runs as root of the host for the same reasons; nothing of the host's
// network, processes or file systems is shared with it beyond its storage.
func security() *corev1.SecurityContext {
	yes, root := true, int64(0)
	return &corev1.SecurityContext{Privileged: &yes, RunAsUser: &root}
}
