package local

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gluster/anthill/test/atomicfile"
)

// auditedAccounts are the service accounts of the namespace whose reads are
// logged too: what they may do is held to what they do.
const auditedAccounts = "system:serviceaccounts:anthill-system"

// auditPolicy has every attempt to write logged, with its answer, and reads of
// the operator only.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  userGroups: ["` + auditedAccounts + `"]
- level: Metadata
  verbs: [create, update, patch, delete, deletecollection]
- level: None
`

// auditLineMax bounds one line of the log.
const auditLineMax = 1 << 20

// A Request is one attempt to do something through the API server.
type Request struct {
	At       time.Time // when it was answered
	User     string
	Verb     string // as a role names it
	Group    string // of the API, empty: the core
	Resource string // with its subresource: "glusternodes/status"
	Object   string // namespace/name, or name
	Code     int    // of the answer
}

// A Write is one attempt to change something through the API server: create,
// update, patch, delete or deletecollection.
type Write = Request

// writeVerbs are those of a Write.
var writeVerbs = []string{"create", "update", "patch", "delete", "deletecollection"}

// String is one line.
func (w Request) String() string {
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
	all, err := a.Requests()
	return slices.DeleteFunc(all, func(r Request) bool { return !slices.Contains(writeVerbs, r.Verb) }), err
}

// Requests lists every attempt to write and, of the operator's account, to read,
// since the environment came up, in the order of the answers. Streams are in it
// twice, when they begin and when they end. It needs Config.Audit.
func (a *APIServer) Requests() ([]Request, error) {
	data, err := os.ReadFile(a.auditLog())
	if err != nil {
		return nil, fmt.Errorf("reading the audit log: %w", err)
	}
	data = data[:bytes.LastIndexByte(data, '\n')+1] // the rest is being written
	var out []Request
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, auditLineMax)
	for lines.Scan() {
		var e struct {
			Verb           string
			User           struct{ Username string }
			ObjectRef      struct{ APIGroup, Resource, Subresource, Namespace, Name string }
			ResponseStatus struct{ Code int }
			StageTimestamp time.Time
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("reading the audit log %q: %w", a.auditLog(), err)
		}
		w := Request{
			At: e.StageTimestamp, User: e.User.Username, Verb: e.Verb, Group: e.ObjectRef.APIGroup,
			Resource: e.ObjectRef.Resource, Object: e.ObjectRef.Name, Code: e.ResponseStatus.Code,
		}
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
