package api

import "strings"

func nodeBase() map[string]any {
	return map[string]any{
		"apiVersion": groupVersion, "kind": "GlusterNode",
		"metadata": map[string]any{"name": "base"},
		"spec": map[string]any{
			"cluster": "demo",
			"external": map[string]any{
				"address":   "gluster-1",
				"ssh":       map[string]any{"secretRef": map[string]any{"name": "demo-ssh"}},
				"brickDirs": []any{"/bricks/b1"},
			},
		},
	}
}

// hostKey is an ed25519 public key.
const hostKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIC7fjDd1Fpv0oqL7pRE1bQ0wTkfXyy7lrLqkuKB4uWiA"

const nameOfNode = "the name of a GlusterNode becomes a host name"

var nodeRules = map[string]rule{
	"Minimal": {reason: "cluster, address, Secret and one directory are enough"},
	"Full": {
		reason: "all fields at once",
		create: `{spec: {zone: Rack_1.a, external: {address: s1.storage.example.org, ssh: {host: "2001:db8::1", port: 2222, user: gluster, hostKeys: ["` + hostKey + ` root@s1"]}, brickDirs: [/bricks/b1, /srv/brick-2/x_1.y]}}}`,
	},
	"NoSpec":         {reason: "a node is of a cluster", create: `{spec: null}`, refused: "spec: Required value"},
	"NoCluster":      {reason: "a node is of a cluster", create: `{spec: {cluster: null}}`, refused: "spec.cluster: Required value"},
	"EmptyCluster":   {reason: "and of a named one", create: `{spec: {cluster: ""}}`, refused: "spec.cluster"},
	"NoExternal":     {reason: "a server has to be described", create: `{spec: {external: null}}`, refused: "a node is either a server outside Kubernetes (external) or a pod"},
	"NoSecret":       {reason: "there is no login without a key", create: `{spec: {external: {ssh: {secretRef: null}}}}`, refused: "secretRef: Required value"},
	"NoBrickDirs":    {reason: "a server without room for bricks is of no use", create: `{spec: {external: {brickDirs: []}}}`, refused: "should have at least 1 items"},
	"UnknownField":   {reason: "tags are not implemented, and so not in the schema", create: `{spec: {tags: [fast]}}`, refused: `unknown field "spec.tags"`},
	"UnknownDesired": {reason: "nor is maintenance", create: `{spec: {desiredState: disabled}}`, refused: `unknown field "spec.desiredState"`},

	"NameLongest": {reason: "52 characters leave room for what Kubernetes appends", create: `{metadata: {name: "` + strings.Repeat("n", 52) + `"}}`},
	"NameTooLong": {reason: "53 do not", create: `{metadata: {name: "` + strings.Repeat("n", 53) + `"}}`, refused: nameOfNode},
	"NameDotted":  {reason: "a host name is one label", create: `{metadata: {name: n.1}}`, refused: nameOfNode},
	"NameDigit":   {reason: "host names may start with a digit", create: `{metadata: {name: 1st}}`},

	"ClusterFixed":    {reason: "a peer cannot be in two pools", update: `{spec: {cluster: other}}`, refused: "a node cannot move to another cluster"},
	"ClusterName":     {reason: "no cluster can have that name", create: `{spec: {cluster: 1st}}`, refused: "spec.cluster"},
	"ZoneMayChange":   {reason: "it counts for bricks placed from then on", create: `{spec: {zone: a}}`, update: `{spec: {zone: b}}`},
	"ZoneMayLeave":    {reason: "then the node is a zone of its own", create: `{spec: {zone: a}}`, update: `{spec: {zone: null}}`},
	"ZoneSlash":       {reason: "zones are like label values; a slash marks a node's own zone", create: `{spec: {zone: node/n1}}`, refused: "spec.zone"},
	"AddressFixed":    {reason: "bricks are named by it", update: `{spec: {external: {address: gluster-2}}}`, refused: "address is part of the identity of peer and bricks"},
	"AddressIP":       {reason: "never an address that changes (R30)", create: `{spec: {external: {address: 192.0.2.1}}}`, refused: "address must be a DNS name, not an IP address"},
	"AddressShortIP":  {reason: "resolvers read 10.1 as 10.0.0.1", create: `{spec: {external: {address: "10.1"}}}`, refused: "address must be a DNS name, not an IP address"},
	"AddressHexIP":    {reason: "and 0x7f000001 as 127.0.0.1", create: `{spec: {external: {address: "0x7f000001"}}}`, refused: "address must be a DNS name, not an IP address"},
	"AddressIPv6":     {reason: "colons end the host in a brick's name", create: `{spec: {external: {address: "2001:db8::1"}}}`, refused: "spec.external.address"},
	"AddressDigits":   {reason: "digits and letters mix in a name", create: `{spec: {external: {address: 0x7g.3com}}}`},
	"AddressLocal":    {reason: "localhost is another server everywhere", create: `{spec: {external: {address: localhost}}}`, refused: "localhost does not"},
	"AddressLocalDom": {reason: "with a domain, too", create: `{spec: {external: {address: localhost.localdomain}}}`, refused: "localhost does not"},
	"AddressUpper":    {reason: "one spelling per server", create: `{spec: {external: {address: Gluster-1}}}`, refused: "spec.external.address"},
	"AddressFlag":     {reason: "an address is never a flag", create: `{spec: {external: {address: -f}}}`, refused: "spec.external.address"},
	"AddressLabel":    {reason: "a label has 63 characters at most", create: `{spec: {external: {address: "` + strings.Repeat("a", 64) + `"}}}`, refused: "spec.external.address"},

	"SSHMayChange":  {reason: "how a server is reached is not who it is", update: `{spec: {external: {ssh: {host: 192.0.2.9, port: 23, user: ops, secretRef: {name: other}, hostKeys: ["` + hostKey + `"]}}}}`},
	"SSHPort":       {reason: "ports end at 65535", create: `{spec: {external: {ssh: {port: 65536}}}}`, refused: "should be less than or equal to 65535"},
	"SSHHostFlag":   {reason: "a host is never a flag", create: `{spec: {external: {ssh: {host: -oProxyCommand=x}}}}`, refused: "spec.external.ssh.host"},
	"SSHHostLocal6": {reason: "an IPv6 address may start with colons", create: `{spec: {external: {ssh: {host: "::1"}}}}`},
	"SSHUserFlag":   {reason: "a user is never a flag", create: `{spec: {external: {ssh: {user: -l}}}}`, refused: "spec.external.ssh.user"},
	"SSHSecretName": {reason: "no Secret has that name", create: `{spec: {external: {ssh: {secretRef: {name: A_b}}}}}`, refused: "secretRef.name"},
	"HostKeyPrint":  {reason: "a fingerprint is not a key", create: `{spec: {external: {ssh: {hostKeys: ["SHA256:Vmc/WUVGIy0L0sSU1w7oENoEJpYWpnhZoyXWXfPZ+uQ"]}}}}`, refused: "hostKeys[0]"},
	"HostKeyKnown":  {reason: "a known_hosts line goes into the Secret", create: `{spec: {external: {ssh: {hostKeys: ["gluster-1 ` + hostKey + `"]}}}}`, refused: "hostKeys[0]"},
	"HostKeyWeak":   {reason: "DSA keys are not to be trusted", create: `{spec: {external: {ssh: {hostKeys: ["ssh-dss AAAAB3NzaC1kc3MAAACBAI"]}}}}`, refused: "hostKeys[0]"},
	"HostKeyLines":  {reason: "a key is one line", create: `{spec: {external: {ssh: {hostKeys: ["` + hostKey + `\nx"]}}}}`, refused: "hostKeys[0]"},
	"HostKeyTwice":  {reason: "keys are a set", create: `{spec: {external: {ssh: {hostKeys: ["` + hostKey + `", "` + hostKey + `"]}}}}`, refused: "Duplicate value"},

	"DirsGrow":     {reason: "directories can be added, in any order", update: `{spec: {external: {brickDirs: [/bricks/b0, /bricks/b1]}}}`},
	"DirsShrink":   {reason: "a directory may hold bricks", create: `{spec: {external: {brickDirs: [/bricks/b1, /bricks/b2]}}}`, update: `{spec: {external: {brickDirs: [/bricks/b2]}}}`, refused: "brickDirs only grow"},
	"DirsReplaced": {reason: "nor can it be renamed", update: `{spec: {external: {brickDirs: [/bricks/other]}}}`, refused: "brickDirs only grow"},
	"DirTwice":     {reason: "directories are a set", create: `{spec: {external: {brickDirs: [/bricks/b1, /bricks/b1]}}}`, refused: "Duplicate value"},
	"DirRelative":  {reason: "relative to what?", create: `{spec: {external: {brickDirs: [bricks/b1]}}}`, refused: "brickDirs[0]"},
	"DirRoot":      {reason: "the root is no brick directory", create: `{spec: {external: {brickDirs: [/]}}}`, refused: "brickDirs[0]"},
	"DirTrailing":  {reason: "one spelling per directory", create: `{spec: {external: {brickDirs: [/bricks/]}}}`, refused: "brickDirs[0]"},
	"DirDoubled":   {reason: "one spelling per directory", create: `{spec: {external: {brickDirs: [/bricks//b1]}}}`, refused: "brickDirs[0]"},
	"DirUp":        {reason: "paths are clean", create: `{spec: {external: {brickDirs: [/bricks/../etc]}}}`, refused: "brickDirs[0]"},
	"DirHidden":    {reason: "hidden folders are gluster's and ours", create: `{spec: {external: {brickDirs: [/bricks/.glusterfs]}}}`, refused: "brickDirs[0]"},
	"DirSpace":     {reason: "gluster's files hold paths unquoted", create: `{spec: {external: {brickDirs: ["/bricks/b 1"]}}}`, refused: "brickDirs[0]"},
	"DirNewline":   {reason: "a path is one line", create: `{spec: {external: {brickDirs: ["/bricks/b1\n/etc"]}}}`, refused: "brickDirs[0]"},
	"DirLongest":   {reason: "address and directory share a file name", create: `{spec: {external: {brickDirs: ["/` + strings.Repeat("d", 109) + `"]}}}`},
	"DirTooLong":   {reason: "one more is too long for glusterd's file names", create: `{spec: {external: {address: gluster-1234, brickDirs: ["/` + strings.Repeat("d", 109) + `"]}}}`, refused: "address and brick directory together may have at most 120 characters"},
	"DirsMany":     {reason: "lists are bounded", create: `{spec: {external: {brickDirs: [/b/` + strings.Join(strings.Split("0123456789abcdefghijklmnopqrstuvw", ""), ",/b/") + `]}}}`, refused: "must have at most 32 items"},
}
