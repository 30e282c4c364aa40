package pods

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// A grant is one thing the operator may do.
type grant struct{ group, resource, verb string }

func (g grant) String() string {
	if g.group == "" {
		return g.verb + " " + g.resource
	}
	return g.verb + " " + g.resource + "." + g.group
}

// seldom are grants that need what no test makes happen, each with when it is
// used.
var seldom = map[grant]string{
	{"", "services", "update"}:                        "when somebody has changed the Service of a cluster",
	{"", "pods/exec", "create"}:                       "where the API server takes no WebSocket, or takes one for a POST",
	{"", "pods/exec", "get"}:                          "where the API server takes a WebSocket for a GET",
	{"", "pods", "list"}:                              noStreams,
	{"", "persistentvolumeclaims", "list"}:            noStreams,
	{"apps", "statefulsets", "list"}:                  noStreams,
	{"operator.gluster.org", "glusternodes", "get"}:   "by `anthill plan -f` for a node in the file",
	{"operator.gluster.org", "glustervolumes", "get"}: "by `anthill plan -f` for a volume in the file",
	{"events.k8s.io", "events", "patch"}:              "when the same happens again and again within minutes",
}

// noStreams is when a watch begins with a list.
const noStreams = "where the API server does not stream what is there at the beginning of a watch (WatchList)"

// roles holds deploy/ to what the operator did, from its installation to the end
// of all tests (R70): nothing that it asked for was denied, and, if everything
// was run, nothing is granted that it never did.
func (s *Site) roles(everything bool) error {
	requests, err := s.Env.Local().APIServer.Requests()
	if err != nil {
		return err
	}
	used, errs := map[grant]int{}, []error(nil)
	for _, r := range requests {
		if r.User != operatorUser || r.Resource == "" {
			continue
		}
		if r.Code == http.StatusForbidden {
			errs = append(errs, fmt.Errorf("denied: %s", r))
		}
		used[grant{r.Group, r.Resource, r.Verb}]++
	}
	if len(used) == 0 {
		return errors.New("the audit log has nothing of the operator")
	}
	if !everything {
		return errors.Join(errs...)
	}
	granted, err := s.granted()
	if err != nil {
		return err
	}
	for _, g := range granted {
		switch {
		case used[g] == 0 && seldom[g] == "":
			errs = append(errs, fmt.Errorf("granted in vain: %s", g))
		case used[g] == 0:
			config.Log(fmt.Sprintf("granted and not used here: %s, for %s", g, seldom[g]))
		}
	}
	return errors.Join(errs...)
}

// granted are the rules of the operator's roles in what was installed, one by
// one.
func (s *Site) granted() ([]grant, error) {
	objects, err := s.manifest()
	if err != nil {
		return nil, err
	}
	var out []grant
	for _, o := range objects {
		if k := o.GetKind(); (k != "ClusterRole" && k != "Role") || !strings.HasPrefix(o.GetName(), "anthill-operator") {
			continue
		}
		var role rbacv1.Role // the rules of a ClusterRole are of the same form
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &role); err != nil {
			return nil, fmt.Errorf("reading role %q: %w", o.GetName(), err)
		}
		for _, rule := range role.Rules {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					for _, verb := range rule.Verbs {
						if g := (grant{group, resource, verb}); !slices.Contains(out, g) {
							out = append(out, g)
						}
					}
				}
			}
		}
	}
	if len(out) == 0 {
		return nil, errors.New("what was installed grants nothing")
	}
	return out, nil
}
