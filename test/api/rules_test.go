package api

import (
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A rule is one thing the API server accepts or refuses. The object is the
// kind's base with merge patches: the first makes what is created, the second,
// if there is one, what it is then changed to.
type rule struct {
	reason  string // why it must be so
	create  string
	update  string
	refused string // part of the message; empty: accepted
}

// check runs every rule with dry-run requests.
func check(t *testing.T, base map[string]any, rules map[string]rule) {
	t.Helper()
	for name, tc := range rules {
		t.Run(name, func(t *testing.T) {
			o := &unstructured.Unstructured{Object: patched(t, base, tc.create)}
			if o.GetName() == base["metadata"].(map[string]any)["name"] {
				o.SetName("r-" + strings.ToLower(name)) // tests may share the namespace
			}
			o.SetNamespace(namespace)
			var err error
			if tc.update == "" {
				_, err = objects.create(t.Context(), o, metav1.DryRunAll)
			} else {
				made := created(t, o)
				_, err = objects.update(t.Context(), &unstructured.Unstructured{Object: patched(t, made.Object, tc.update)}, metav1.DryRunAll)
			}
			said, err := refusal(err)
			switch {
			case err != nil:
				t.Fatalf("the server gave no verdict: %v", err)
			case tc.refused == "" && said != "":
				t.Errorf("%s: refused:\n%s", tc.reason, said)
			case tc.refused != "" && said == "":
				t.Errorf("%s: accepted, want a refusal with %q", tc.reason, tc.refused)
			case !strings.Contains(said, tc.refused):
				t.Errorf("%s: refused with other words, want %q:\n%s", tc.reason, tc.refused, said)
			}
		})
	}
}

func TestClusterRules(t *testing.T) { check(t, clusterBase(), clusterRules) }
func TestNodeRules(t *testing.T)    { check(t, nodeBase(), nodeRules) }
func TestPodRules(t *testing.T)     { check(t, podBase(), podRules) }
func TestExternalOnly(t *testing.T) { check(t, nodeBase(), externalOnly) }
func TestVolumeRules(t *testing.T)  { check(t, volumeBase(), volumeRules) }

// Every CEL rule in the manifests is refused by at least one case above, with
// its own message: a rule nobody tests may never fire.
func TestEveryRuleHasACase(t *testing.T) {
	for kind, of := range map[string]struct {
		file  string
		rules map[string]rule
	}{
		"GlusterCluster": {"operator.gluster.org_glusterclusters.yaml", clusterRules},
		"GlusterNode":    {"operator.gluster.org_glusternodes.yaml", allNodeRules()},
		"GlusterVolume":  {"operator.gluster.org_glustervolumes.yaml", volumeRules},
	} {
		crds, err := readObjects(filepath.Join(root, "deploy/crds", of.file))
		if err != nil {
			t.Fatal(err)
		}
		messages := map[string]bool{}
		collectMessages(crds[0].Object, messages)
		if len(messages) == 0 {
			t.Errorf("%s: found no rules", kind)
		}
		for message := range messages {
			tested := false
			for _, r := range of.rules {
				tested = tested || r.refused != "" && strings.Contains(message, r.refused)
			}
			if !tested {
				t.Errorf("%s: no case is refused by the rule %q", kind, message)
			}
		}
	}
}

// collectMessages gathers the messages of all x-kubernetes-validations.
func collectMessages(value any, into map[string]bool) {
	switch v := value.(type) {
	case map[string]any:
		if list, ok := v["x-kubernetes-validations"].([]any); ok {
			for _, r := range list {
				into[r.(map[string]any)["message"].(string)] = true
			}
		}
		for _, inner := range v {
			collectMessages(inner, into)
		}
	case []any:
		for _, inner := range v {
			collectMessages(inner, into)
		}
	}
}
