package api

import "strings"

func volumeBase() map[string]any {
	return map[string]any{
		"apiVersion": groupVersion, "kind": "GlusterVolume",
		"metadata": map[string]any{"name": "base"},
		"spec":     map[string]any{"cluster": "demo"},
	}
}

const (
	replica3   = `{replicate: {replica: 3, sets: 1}}`
	arbitrated = `{replicate: {replica: 2, arbiter: 1, sets: 1}}`
	dispersed  = `{disperse: {data: 4, redundancy: 2, sets: 2}}`
	spread     = `{distribute: {bricks: 3}}`

	nameOfVolume = "the name of a GlusterVolume is the volume's name in gluster"
)

// with is a spec of the base with a layout and, optionally, more fields.
func with(layout string, more ...string) string {
	return "{spec: {" + strings.Join(append(more, "layout: "+layout), ", ") + "}}"
}

var volumeRules = map[string]rule{
	"Replicate":  {reason: "three copies", create: with(replica3)},
	"Arbiter":    {reason: "two copies and an arbiter", create: with(arbitrated)},
	"Disperse":   {reason: "erasure coding", create: with(dispersed)},
	"Distribute": {reason: "one copy", create: with(spread)},
	"Full": {
		reason: "all fields at once",
		create: with(`{replicate: {replica: 2, arbiter: 0, sets: 100, acceptSplitBrainRisk: true}}`, `options: {performance.cache-size: 256MB, user.owner: ops}`, "allowUnknownOptions: true", "zones: [a, Rack_1.b]"),
	},
	"NoSpec":       {reason: "a volume has a layout", create: `{spec: null}`, refused: "spec: Required value"},
	"NoCluster":    {reason: "a volume is made in a cluster", create: with(replica3, "cluster: null"), refused: "spec.cluster: Required value"},
	"NoLayout":     {reason: "there is no layout that suits all", refused: "spec.layout: Required value"},
	"UnknownField": {reason: "a capacity is not implemented, and so not in the schema", create: with(replica3, "capacity: 1Gi"), refused: `unknown field "spec.capacity"`},

	"NameLongest": {reason: "63 characters fit", create: patchName(strings.Repeat("v", 63))},
	"NameTooLong": {reason: "64 do not", create: patchName(strings.Repeat("v", 64)), refused: nameOfVolume},
	"NameDotted":  {reason: "gluster refuses dots", create: patchName("a.b"), refused: nameOfVolume},
	"NameAll":     {reason: "volume set all means every volume", create: patchName("all"), refused: "the gluster command gives the names all and help a meaning of their own"},
	"NameHelp":    {reason: "volume set help prints options", create: patchName("help"), refused: "the gluster command gives the names all and help a meaning of their own"},

	"ClusterFixed": {reason: "data does not move between pools", create: with(replica3), update: `{spec: {cluster: other}}`, refused: "a volume cannot move to another cluster"},

	"LayoutNone":   {reason: "exactly one kind", create: with(`{}`), refused: "a layout is exactly one of replicate, disperse and distribute"},
	"LayoutTwo":    {reason: "exactly one kind", create: with(`{replicate: {replica: 3, sets: 1}, distribute: {bricks: 1}}`), refused: "a layout is exactly one of replicate, disperse and distribute"},
	"LayoutKind":   {reason: "gluster cannot turn one into another", create: with(replica3), update: with(`{replicate: null, distribute: {bricks: 3}}`), refused: "the kind of a layout cannot change"},
	"LayoutLeaves": {reason: "a volume keeps its layout", create: with(replica3), update: `{spec: {layout: null}}`, refused: "spec.layout: Required value"},

	"ReplicaOne":     {reason: "one copy is distribute", create: with(`{replicate: {replica: 1, sets: 1}}`), refused: "replica: Unsupported value"},
	"ReplicaFour":    {reason: "gluster is used, and tested, with up to three", create: with(`{replicate: {replica: 4, sets: 1}}`), refused: "replica: Unsupported value"},
	"ReplicaTwo":     {reason: "two copies split (R1)", create: with(`{replicate: {replica: 2, sets: 1}}`), refused: "two copies without an arbiter can end in split-brain"},
	"ReplicaTwoNo":   {reason: "false accepts nothing", create: with(`{replicate: {replica: 2, arbiter: 0, sets: 1, acceptSplitBrainRisk: false}}`), refused: "two copies without an arbiter can end in split-brain"},
	"ReplicaTwoYes":  {reason: "unless the risk is accepted", create: with(`{replicate: {replica: 2, sets: 1, acceptSplitBrainRisk: true}}`)},
	"RiskWithdrawn":  {reason: "nor withdrawn while it lasts", create: with(`{replicate: {replica: 2, sets: 1, acceptSplitBrainRisk: true}}`), update: with(`{replicate: {acceptSplitBrainRisk: null}}`), refused: "two copies without an arbiter can end in split-brain"},
	"ReplicaFixed":   {reason: "the number of copies is for good", create: with(replica3), update: with(`{replicate: {replica: 2, acceptSplitBrainRisk: true}}`), refused: "replica cannot change"},
	"ArbiterOnThree": {reason: "the two spellings of gluster must not be confused", create: with(`{replicate: {replica: 3, arbiter: 1, sets: 1}}`), refused: "replica counts full copies and an arbiter comes on top"},
	"ArbiterTwo":     {reason: "gluster knows one arbiter", create: with(`{replicate: {replica: 2, arbiter: 2, sets: 1}}`), refused: "arbiter: Unsupported value"},
	"ArbiterLeaves":  {reason: "an arbiter is for good", create: with(arbitrated), update: with(`{replicate: {arbiter: null, acceptSplitBrainRisk: true}}`), refused: "arbiter cannot change"},
	"ArbiterComes":   {reason: "and is not added later", create: with(`{replicate: {replica: 2, sets: 1, acceptSplitBrainRisk: true}}`), update: with(`{replicate: {arbiter: 1}}`), refused: "arbiter cannot change"},
	"ArbiterZero":    {reason: "0 is the same as nothing", create: with(replica3), update: with(`{replicate: {arbiter: 0}}`)},
	"SetsGrow":       {reason: "that is how a volume gets more space", create: with(replica3), update: with(`{replicate: {sets: 2}}`)},
	"SetsShrink":     {reason: "shrinking is not supported", create: with(`{replicate: {replica: 3, sets: 2}}`), update: with(`{replicate: {sets: 1}}`), refused: "sets only grows"},
	"SetsZero":       {reason: "a volume has bricks", create: with(`{replicate: {replica: 3, sets: 0}}`), refused: "should be greater than or equal to 1"},
	"SetsMany":       {reason: "numbers are bounded", create: with(`{replicate: {replica: 3, sets: 101}}`), refused: "should be less than or equal to 100"},

	"DisperseSmallest":   {reason: "any one of three may be lost", create: with(`{disperse: {data: 2, redundancy: 1, sets: 1}}`)},
	"DisperseMinority":   {reason: "a majority must agree", create: with(`{disperse: {data: 2, redundancy: 2, sets: 1}}`), refused: "data must be greater than redundancy"},
	"DisperseNone":       {reason: "no redundancy is distribute", create: with(`{disperse: {data: 2, redundancy: 0, sets: 1}}`), refused: "should be greater than or equal to 1"},
	"DisperseData":       {reason: "the code is for good", create: with(dispersed), update: with(`{disperse: {data: 8}}`), refused: "data and redundancy cannot change"},
	"DisperseRedundancy": {reason: "the code is for good", create: with(dispersed), update: with(`{disperse: {redundancy: 1}}`), refused: "data and redundancy cannot change"},
	"DisperseGrows":      {reason: "sets grow", create: with(dispersed), update: with(`{disperse: {sets: 3}}`)},
	"DisperseShrinks":    {reason: "and do not shrink", create: with(dispersed), update: with(`{disperse: {sets: 1}}`), refused: "sets only grows"},
	"DistributeGrows":    {reason: "bricks grow", create: with(spread), update: with(`{distribute: {bricks: 4}}`)},
	"DistributeShrinks":  {reason: "and do not shrink", create: with(spread), update: with(`{distribute: {bricks: 2}}`), refused: "bricks only grows"},

	"OptionShort":   {reason: "gluster completes read-only to features.read-only (S11)", create: with(replica3, "options: {read-only: 'on'}"), refused: "write option keys in full"},
	"OptionGroup":   {reason: "a group sets many options at once", create: with(replica3, "options: {group: virt}"), refused: "write option keys in full"},
	"OptionLong":    {reason: "keys are bounded", create: with(replica3, "options: {user."+strings.Repeat("k", 124)+": x}"), refused: "write option keys in full"},
	"OptionMarker":  {reason: "the marker is how a volume is known", create: with(replica3, "options: {user.anthill.volume: x}"), refused: "options that start with user.anthill. are Anthill's own"},
	"OptionFlag":    {reason: "the gluster command reads flags anywhere", create: with(replica3, "options: {user.a: '--mode=interactive'}"), refused: "an option value must not start with '--'"},
	"OptionsChange": {reason: "options come and go", create: with(replica3, "options: {user.a: x, user.b: z}"), update: `{spec: {options: {user.a: z, user.b: null, user.c: "1"}}}`},

	"ZonesChange": {reason: "they count for bricks placed from then on", create: with(replica3, "zones: [a, b]"), update: `{spec: {zones: [c]}}`},
	"ZonesLeave":  {reason: "then all nodes count", create: with(replica3, "zones: [a]"), update: `{spec: {zones: null}}`},
	"ZonesEmpty":  {reason: "no zone at all leaves no room", create: with(replica3, "zones: []"), refused: "should have at least 1 items"},
	"ZoneTwice":   {reason: "zones are a set", create: with(replica3, "zones: [a, a]"), refused: "Duplicate value"},
	"ZoneSlash":   {reason: "no node can be in that zone", create: with(replica3, "zones: [node/n1]"), refused: "spec.zones[0]"},
}

// patchName is a volume with three copies and another name.
func patchName(name string) string {
	return "{metadata: {name: " + name + "}, spec: {layout: " + replica3 + "}}"
}
