package planctl

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gluster/anthill/cmd/anthill/cli"
)

func TestReadObjects(t *testing.T) {
	const head = "apiVersion: operator.gluster.org/v1alpha1\n"
	cases := map[string]struct {
		reason, file string
		want         []string
		wrong        string // part of the error
		note         string
	}{
		"Several": {
			reason: "documents of one file, namespaces filled in",
			file:   head + "kind: GlusterCluster\nmetadata: {name: c1}\n---\n---\n" + head + "kind: GlusterNode\nmetadata: {name: n1, namespace: far}\nspec: {cluster: c1}\n",
			want:   []string{"GlusterCluster/demo/c1", "GlusterNode/far/n1"},
		},
		"JSON":        {reason: "JSON is fine", file: `{"apiVersion":"operator.gluster.org/v1alpha1","kind":"GlusterVolume","metadata":{"name":"v1"},"spec":{"cluster":"c1"}}`, want: []string{"GlusterVolume/demo/v1"}},
		"OtherKinds":  {reason: "a Secret is none of ours", file: "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n", note: "skipped: Secret/s"},
		"Empty":       {reason: "nothing is nothing", file: ""},
		"Misspelt":    {reason: "a field that is not there is most likely misspelt", file: head + "kind: GlusterCluster\nmetadata: {name: c1}\nspec: {pausd: true}\n", wrong: "pausd"},
		"UnknownKind": {reason: "our group, not our kind", file: head + "kind: GlusterThing\nmetadata: {name: x}\n", wrong: "GlusterThing is not known"},
		"OldVersion":  {reason: "our kind, not our version", file: "apiVersion: operator.gluster.org/v1\nkind: GlusterNode\nmetadata: {name: x}\n", wrong: "is not known"},
		"NoName":      {reason: "an object has a name", file: head + "kind: GlusterCluster\n", wrong: "metadata.name"},
		"NoYAML":      {reason: "not YAML", file: "{{{", wrong: "object 1"},
		"TooLarge":    {reason: "bounded", file: "# " + strings.Repeat("x", fileBytesMax) + "\n" + head + "kind: GlusterCluster\nmetadata: {name: c1}\n", wrong: "larger than"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var notes bytes.Buffer
			objects, err := readObjects(strings.NewReader(tc.file), "demo", &notes)
			if tc.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wrong) || cli.CodeOf(err) != cli.Usage {
					t.Errorf("%s: got %v, want a usage error with %q", tc.reason, err, tc.wrong)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			var got []string
			for _, o := range objects {
				got = append(got, kindOf(o)+"/"+o.GetNamespace()+"/"+o.GetName())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if !strings.Contains(notes.String(), tc.note) {
				t.Errorf("%s: notes %q, want %q", tc.reason, notes.String(), tc.note)
			}
		})
	}
}
