package api

import "maps"

// podBase is a GlusterNode that is a pod.
func podBase() map[string]any {
	return map[string]any{
		"apiVersion": groupVersion, "kind": "GlusterNode",
		"metadata": map[string]any{"name": "base"},
		"spec": map[string]any{
			"cluster": "demo",
			"storage": []any{map[string]any{"name": "b1", "pvcName": "base-b1"}},
			"state":   map[string]any{"pvcName": "base-state"},
		},
	}
}

// oneHost is an affinity as a node with devices needs it.
const oneHost = `nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [h1]}]}]}}`

var podRules = map[string]rule{
	"Minimal": {reason: "a claim for bricks and one for state are enough"},
	"Full": {
		reason: "all fields at once",
		create: `{spec: {zone: a, storage: [{name: b1, pvcName: x.y}, {name: nvme-1, device: /dev/disk/by-id/wwn-0x5000c500a1b2c3d4}], state: {pvcName: null, hostPath: /var/lib/anthill-state/n1}, tolerations: [{key: storage, operator: Exists}], resources: {requests: {cpu: 500m, memory: 1Gi}, limits: {memory: 2Gi}}, priorityClassName: high.x, ` + oneHost + `}}`,
	},
	"Both":         {reason: "a server is outside Kubernetes or a pod (R1)", create: `{spec: {external: {address: s1, ssh: {secretRef: {name: x}}, brickDirs: [/b/1]}}}`, refused: "a node is either a server outside Kubernetes (external) or a pod"},
	"Neither":      {reason: "and one of the two", create: `{spec: {storage: null, state: null}}`, refused: "a node is either a server outside Kubernetes (external) or a pod"},
	"BecomesOther": {reason: "a peer stays what it is", update: `{spec: {storage: null, state: null, external: {address: s1, ssh: {secretRef: {name: x}}, brickDirs: [/b/1]}}}`, refused: "does not become a pod, nor a pod such a server"},
	"NoState":      {reason: "who a peer is must survive its pod", create: `{spec: {state: null}}`, refused: "give state together with storage"},
	"StateBoth":    {reason: "one place", create: `{spec: {state: {hostPath: /var/lib/x}}}`, refused: "give exactly one of pvcName and hostPath"},
	"StateFixed":   {reason: "glusterd's UUID is there", update: `{spec: {state: {pvcName: other}}}`, refused: "state holds the identity of the peer and cannot change"},
	"StateRoot":    {reason: "the host's root is no folder of ours", create: `{spec: {state: {pvcName: null, hostPath: /}}}`, refused: "spec.state.hostPath"},
	"StateUp":      {reason: "paths are clean", create: `{spec: {state: {pvcName: null, hostPath: /var/../etc}}}`, refused: "spec.state.hostPath"},
	"StateOneHost": {reason: "a folder is of one host", create: `{spec: {state: {pvcName: null, hostPath: /var/lib/x}}}`, refused: "devices and host paths are of one host"},

	"StorageGrows":    {reason: "a node can get another device", update: `{spec: {storage: [{name: b0, pvcName: other}, {name: b1, pvcName: base-b1}]}}`},
	"StorageShrinks":  {reason: "a device may hold bricks", create: `{spec: {storage: [{name: b1, pvcName: a}, {name: b2, pvcName: b}]}}`, update: `{spec: {storage: [{name: b2, pvcName: b}]}}`, refused: "storage only grows"},
	"StorageChanges":  {reason: "the bricks are on the old one", update: `{spec: {storage: [{name: b1, pvcName: other}]}}`, refused: "storage only grows"},
	"StorageBoth":     {reason: "one of two (R1)", create: `{spec: {storage: [{name: b1, pvcName: a, device: /dev/disk/by-id/x}], ` + oneHost + `}}`, refused: "give exactly one of device and pvcName"},
	"StorageNeither":  {reason: "one of two", create: `{spec: {storage: [{name: b1}]}}`, refused: "give exactly one of device and pvcName"},
	"StorageEmpty":    {reason: "a node without room for bricks is of no use", create: `{spec: {storage: []}}`, refused: "should have at least 1 items"},
	"StorageTwice":    {reason: "names are directories", create: `{spec: {storage: [{name: b1, pvcName: a}, {name: b1, pvcName: b}]}}`, refused: "Duplicate value"},
	"StorageName":     {reason: "a directory of its own", create: `{spec: {storage: [{name: ../x, pvcName: a}]}}`, refused: "spec.storage[0].name"},
	"DeviceUnstable":  {reason: "sdb may be another disk tomorrow (R6)", create: `{spec: {storage: [{name: b1, device: /dev/sdb}], ` + oneHost + `}}`, refused: "spec.storage[0].device"},
	"DeviceUp":        {reason: "paths are clean", create: `{spec: {storage: [{name: b1, device: /dev/disk/by-id/..}], ` + oneHost + `}}`, refused: "spec.storage[0].device"},
	"DeviceOneHost":   {reason: "a device is of one host (R5)", create: `{spec: {storage: [{name: b1, device: /dev/disk/by-id/x}]}}`, refused: "devices and host paths are of one host"},
	"ResourcesChange": {reason: "the pod is restarted", update: `{spec: {resources: {requests: {memory: 1Gi}}, priorityClassName: high}}`},
	"ResourceClaims":  {reason: "the pod has no claims of that kind", create: `{spec: {resources: {claims: [{name: x}]}}}`, refused: "resource claims are not supported"},
	"Priority":        {reason: "it is the name of an object", create: `{spec: {priorityClassName: Not_A_Name}}`, refused: "spec.priorityClassName"},
	"AffinityChanges": {reason: "where it runs is not who it is", update: `{spec: {` + oneHost + `}}`},
}

// externalOnly are rules of a server outside Kubernetes that are about pods.
var externalOnly = map[string]rule{
	"Tolerations": {reason: "nothing is scheduled", create: `{spec: {tolerations: [{key: x, operator: Exists}]}}`, refused: "nodeAffinity, tolerations, resources and priorityClassName are for pods"},
	"Affinity":    {reason: "nothing is scheduled", create: `{spec: {` + oneHost + `}}`, refused: "nodeAffinity, tolerations, resources and priorityClassName are for pods"},
	"Resources":   {reason: "it has what it has", create: `{spec: {resources: {requests: {memory: 1Gi}}}}`, refused: "nodeAffinity, tolerations, resources and priorityClassName are for pods"},
	"Priority":    {reason: "nothing is scheduled", create: `{spec: {priorityClassName: high}}`, refused: "nodeAffinity, tolerations, resources and priorityClassName are for pods"},
	"State":       {reason: "its state is its own", create: `{spec: {state: {pvcName: x}}}`, refused: "give state together with storage"},
}

// allNodeRules are those of both shapes.
func allNodeRules() map[string]rule {
	all := maps.Clone(nodeRules)
	for name, r := range podRules {
		all["Pod"+name] = r
	}
	maps.Copy(all, externalOnly)
	return all
}
