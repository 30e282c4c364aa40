package api

func clusterBase() map[string]any {
	return map[string]any{
		"apiVersion": groupVersion, "kind": "GlusterCluster",
		"metadata": map[string]any{"name": "base"},
	}
}

var clusterRules = map[string]rule{
	"Minimal": {reason: "a name is enough (R2)"},
	"Full": {
		reason: "all fields at once",
		create: `{spec: {paused: true, allowUnknownOptions: true, clusterOptions: {cluster.brick-multiplex: "on", cluster.max-bricks-per-process: "250"}}}`,
	},
	"TemplateMinimal":  {reason: "name, number and class are enough (R2)", create: `{spec: {nodeTemplates: [{name: a, thresholds: {nodes: 3}, storage: {storageClassName: fast}}]}}`},
	"TemplateFull":     {reason: "all fields at once", create: `{spec: {image: "registry.example/gluster:10.3@sha256_x", nodeTemplates: [{name: a, zone: z, thresholds: {nodes: 0}, tolerations: [{operator: Exists}], ` + oneHost + `, storage: {storageClassName: fast, size: 100Gi, volumeMode: Block, stateStorageClassName: slow}}]}}`},
	"TemplateGrows":    {reason: "a pool grows by its number", create: `{spec: {nodeTemplates: [{name: a, thresholds: {nodes: 3}, storage: {storageClassName: fast}}]}}`, update: `{spec: {nodeTemplates: [{name: a, thresholds: {nodes: 4}, storage: {storageClassName: fast}}]}}`},
	"TemplateStorage":  {reason: "claims that exist do not change", create: `{spec: {nodeTemplates: [{name: a, thresholds: {nodes: 3}, storage: {storageClassName: fast}}]}}`, update: `{spec: {nodeTemplates: [{name: a, thresholds: {nodes: 3}, storage: {storageClassName: slow}}]}}`, refused: "the claims that exist do not change"},
	"TemplateCount":    {reason: "each node gets more claims", create: `{spec: {nodeTemplates: [{name: a, thresholds: {nodes: 3}, storage: {storageClassName: fast, size: 1Gi}}]}}`, update: `{spec: {nodeTemplates: [{name: a, thresholds: {nodes: 3}, storage: {storageClassName: fast, size: 1Gi, count: 2}}]}}`},
	"TemplateFewer":    {reason: "a claim may hold bricks", create: `{spec: {nodeTemplates: [{name: a, thresholds: {nodes: 3}, storage: {storageClassName: fast, count: 2}}]}}`, update: `{spec: {nodeTemplates: [{name: a, thresholds: {nodes: 3}, storage: {storageClassName: fast}}]}}`, refused: "count only grows"},
	"TemplateNone":     {reason: "a node without room for bricks is of no use", create: `{spec: {nodeTemplates: [{name: a, thresholds: {nodes: 3}, storage: {storageClassName: fast, count: 0}}]}}`, refused: "storage.count"},
	"TemplateSize":     {reason: "claims that exist do not change", create: `{spec: {nodeTemplates: [{name: a, thresholds: {nodes: 3}, storage: {storageClassName: fast, size: 1Gi}}]}}`, update: `{spec: {nodeTemplates: [{name: a, thresholds: {nodes: 3}, storage: {storageClassName: fast, size: 2Gi}}]}}`, refused: "the claims that exist do not change"},
	"TemplateSizeLate": {reason: "nor does the default", create: `{spec: {nodeTemplates: [{name: a, thresholds: {nodes: 3}, storage: {storageClassName: fast}}]}}`, update: `{spec: {nodeTemplates: [{name: a, thresholds: {nodes: 3}, storage: {storageClassName: fast, size: 2Gi}}]}}`, refused: "the claims that exist do not change"},
	"TemplateClaims":   {reason: "the pod has no claims of that kind", create: `{spec: {nodeTemplates: [{name: a, thresholds: {nodes: 3}, resources: {claims: [{name: x}]}, storage: {storageClassName: fast}}]}}`, refused: "resource claims are not supported"},
	"TemplatePriority": {reason: "pods are restarted", create: `{spec: {nodeTemplates: [{name: a, thresholds: {nodes: 3}, storage: {storageClassName: fast}}]}}`, update: `{spec: {nodeTemplates: [{name: a, thresholds: {nodes: 3}, resources: {requests: {memory: 1Gi}}, priorityClassName: high, storage: {storageClassName: fast}}]}}`},
	"TemplateTwice":    {reason: "names of nodes come from it", create: `{spec: {nodeTemplates: [{name: a, thresholds: {nodes: 3}, storage: {storageClassName: fast}}, {name: a, thresholds: {nodes: 3}, storage: {storageClassName: fast}}]}}`, refused: "Duplicate value"},
	"TemplateNoNumber": {reason: "how many is not guessed", create: `{spec: {nodeTemplates: [{name: a, storage: {storageClassName: fast}}]}}`, refused: "thresholds: Required value"},
	"TemplateMode":     {reason: "there are two modes", create: `{spec: {nodeTemplates: [{name: a, thresholds: {nodes: 3}, storage: {storageClassName: fast, volumeMode: Raw}}]}}`, refused: "Unsupported value"},
	"TemplateRange":    {reason: "ranges are not implemented, and so not in the schema", create: `{spec: {nodeTemplates: [{name: a, thresholds: {nodes: 3, minNodes: 2}, storage: {storageClassName: fast}}]}}`, refused: `unknown field "spec.nodeTemplates[0].thresholds.minNodes"`},
	"EmptySpec":        {reason: "an empty spec is no spec", create: `{spec: {}}`},
	"UnknownField":     {reason: "a misspelt field is not silently dropped", create: `{spec: {pause: true}}`, refused: `unknown field "spec.pause"`},

	"NameLongest":  {reason: "63 characters fit a DNS label", create: `{metadata: {name: a23456789012345678901234567890123456789012345678901234567890123}}`},
	"NameTooLong":  {reason: "64 do not", create: `{metadata: {name: a234567890123456789012345678901234567890123456789012345678901234}}`, refused: "the name of a GlusterCluster becomes part of DNS names"},
	"NameDigit":    {reason: "a DNS-1035 label starts with a letter", create: `{metadata: {name: 1st}}`, refused: "the name of a GlusterCluster becomes part of DNS names"},
	"NameDotted":   {reason: "a dot would make two labels", create: `{metadata: {name: a.b}}`, refused: "the name of a GlusterCluster becomes part of DNS names"},
	"NameDashLast": {reason: "a label ends with a letter or digit", create: `{metadata: {name: a-}}`, refused: "metadata.name"},

	"OptionShort":     {reason: "short names would evade the table of dangerous options (S11)", create: `{spec: {clusterOptions: {brick-multiplex: "on"}}}`, refused: "write option keys in full"},
	"OptionFlag":      {reason: "a key is never a flag", create: `{spec: {clusterOptions: {"--mode=script": "on"}}}`, refused: "write option keys in full"},
	"OptionSpace":     {reason: "a key is one word", create: `{spec: {clusterOptions: {"cluster.a b": "on"}}}`, refused: "write option keys in full"},
	"OptionOurs":      {reason: "the marker is ours", create: `{spec: {clusterOptions: {user.anthill.volume: x}}}`, refused: "options that start with user.anthill. are Anthill's own"},
	"ValueFlag":       {reason: "the gluster command reads flags anywhere", create: `{spec: {clusterOptions: {cluster.a: --xml}}}`, refused: "an option value must not start with '--'"},
	"ValueNegative":   {reason: "a negative number is a value", create: `{spec: {clusterOptions: {cluster.a: "-1"}}}`},
	"ValueEmpty":      {reason: "gluster has no empty values; a key is reset by removing it", create: `{spec: {clusterOptions: {cluster.a: ""}}}`, refused: "should be at least 1 chars long"},
	"ValueTwoLines":   {reason: "a value is one line", create: `{spec: {clusterOptions: {cluster.a: "on\noff"}}}`, refused: "should match"},
	"ValueNotText":    {reason: "YAML's bare on is a boolean: quotes are needed", create: `{spec: {clusterOptions: {cluster.a: true}}}`, refused: "must be of type string"},
	"OptionsMayLeave": {reason: "removing a key resets it", create: `{spec: {clusterOptions: {cluster.a: "on"}}}`, update: `{spec: {clusterOptions: null}}`},
	"PolicyPurge":     {reason: "data can be meant to go", create: `{spec: {deletionPolicy: Purge}}`},
	"PolicyMayChange": {reason: "a person may change their mind until it has happened", create: `{spec: {deletionPolicy: Purge}}`, update: `{spec: {deletionPolicy: Retain}}`},
	"PolicyMayLeave":  {reason: "without one data is kept", create: `{spec: {deletionPolicy: Purge}}`, update: `{spec: {deletionPolicy: null}}`},
	"PolicyOther":     {reason: "nothing else is guessed from a word", create: `{spec: {deletionPolicy: Delete}}`, refused: "Unsupported value"},
	"PausedMayChange": {reason: "pausing is reversible", create: `{spec: {paused: true}}`, update: `{spec: {paused: false}}`},
}
