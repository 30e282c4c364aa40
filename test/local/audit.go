package local

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gluster/anthill/test/atomicfile"
)

// auditPolicy has every attempt to write logged, with its answer, and no reads.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  verbs: [create, update, patch, delete, deletecollection]
- level: None
`

// auditLineMax bounds one line of the log.
const auditLineMax = 1 << 20

// A Write is one attempt to change something through the API server.
type Write struct {
	At       time.Time // when it was answered
	User     string
	Verb     string // create, update, patch, delete or deletecollection
	Resource string // with its subresource: "glusternodes/status"
	Object   string // namespace/name, or name
	Code     int    // of the answer
}

// String is one line.
func (w Write) String() string {
	return fmt.Sprintf("%s %s %s by %s: %d", w.Verb, w.Resource, w.Object, w.User, w.Code)
}

// audited tells whether there is an audit log: always, where there are nodes.
func (e *Env) audited() bool { return e.cfg.Audit || e.load().Kubelets }

func (a *APIServer) auditPolicyFile() string { return filepath.Join(a.env.dir, "audit-policy.yaml") }

func (a *APIServer) auditLog() string { return filepath.Join(a.env.dir, "audit.log") }

func (a *APIServer) writeAuditPolicy() error {
	if !a.env.audited() {
		return nil
	}
	return atomicfile.Write(a.auditPolicyFile(), []byte(auditPolicy), 0o644)
}

// auditFlags: a write is in the log before it is answered.
func (a *APIServer) auditFlags() []string {
	if !a.env.audited() {
		return nil
	}
	return []string{"--audit-policy-file=" + a.auditPolicyFile(), "--audit-log-path=" + a.auditLog(), "--audit-log-mode=blocking-strict"}
}

// Writes lists every attempt to write since the environment came up, in the
// order of the answers. It needs Config.Audit.
func (a *APIServer) Writes() ([]Write, error) {
	data, err := os.ReadFile(a.auditLog())
	if err != nil {
		return nil, fmt.Errorf("reading the audit log: %w", err)
	}
	data = data[:bytes.LastIndexByte(data, '\n')+1] // the rest is being written
	var out []Write
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, auditLineMax)
	for lines.Scan() {
		var e struct {
			Stage          string
			Verb           string
			User           struct{ Username string }
			ObjectRef      struct{ Resource, Subresource, Namespace, Name string }
			ResponseStatus struct{ Code int }
			StageTimestamp time.Time
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("reading the audit log %q: %w", a.auditLog(), err)
		}
		w := Write{At: e.StageTimestamp, User: e.User.Username, Verb: e.Verb, Resource: e.ObjectRef.Resource, Object: e.ObjectRef.Name, Code: e.ResponseStatus.Code}
		if e.ObjectRef.Subresource != "" {
			w.Resource += "/" + e.ObjectRef.Subresource
		}
		if e.ObjectRef.Namespace != "" {
			w.Object = e.ObjectRef.Namespace + "/" + w.Object
		}
		out = append(out, w)
	}
	return out, lines.Err()
}
