package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/test/local"
	"github.com/gluster/anthill/test/rig"
)

// retired is the folder on a brick directory where deleted volumes stay.
const retired = ".anthill-retired"

// R67: a volume whose object is deleted without confirmation stays as it is and
// goes on serving; an object of the same name takes it up again, and nothing is
// done to it.
func TestVolumeIsRetainedAndTakenUpAgain(t *testing.T) {
	r := begin(t)
	p := base(t, r)
	v := p.get(t, r, volumeName)
	client := writing(t, r, v.Name)
	was := volumes(t, p.servers(r)[0])[v.Name]
	commands, err := rig.AllChanges(p.servers(r)...)
	must(t, err)

	must(t, r.Client.Delete(t.Context(), v))
	gone(t, r, v)
	progress(t, client, 5)
	again := rig.Replicated(p.ns, clusterName, v.Name, 1)
	must(t, r.Client.Create(t.Context(), again))
	must(t, r.AwaitConverged(t.Context(), slow, again))
	if again.Status.VolumeID != v.Status.VolumeID || v.Status.VolumeID == "" {
		t.Errorf("taken up as %q, want %q", again.Status.VolumeID, v.Status.VolumeID)
	}
	progress(t, client, 5)
	wellServed(t, client)
	if diff := cmp.Diff(was, volumes(t, p.servers(r)[0])[v.Name]); diff != "" {
		t.Errorf("the volume changed (-before +after):\n%s", diff)
	}
	now, err := rig.AllChanges(p.servers(r)...)
	must(t, err)
	if diff := cmp.Diff(commands, now); diff != "" {
		t.Errorf("commands given (-before +after):\n%s", diff)
	}
}

// R67, R68, S13: a confirmed deletion waits while a server is away, says who,
// survives a restart, then stops and deletes the volume and puts its folders out
// of the way, with everything in them.
func TestConfirmedDeletionWaitsForServersAndRetires(t *testing.T) {
	r := begin(t)
	p := base(t, r)
	v := p.volume(t, r, "doomed")
	m := mount(t, r, v.Name)
	must(t, os.WriteFile(filepath.Join(m.Dir(), "precious"), []byte("as it was"), 0o644))
	must(t, m.Unmount(t.Context()))

	// Somebody else's name is no confirmation.
	patch(t, r, v, func(v *v1alpha1.GlusterVolume) {
		v.Annotations = map[string]string{v1alpha1.AnnotationConfirmDelete: "another"}
	})
	must(t, r.Client.Delete(t.Context(), v))
	blocked(t, r, v, v1alpha1.ReasonConfirmationMissing, "another", v.Name)

	down := p.servers(r)[2]
	must(t, down.StopGlusterd(t.Context()))
	condition(t, r, p.node(t, r, 3), v1alpha1.ConditionAvailable, metav1.ConditionFalse, v1alpha1.ReasonGlusterdDown)
	confirm(t, r, v)
	blocked(t, r, v, v1alpha1.ReasonNodesDown, "node-3")
	r.Operator.Kill()
	restart(t, r)
	cyclesMore(t, r, 3)
	blocked(t, r, v, v1alpha1.ReasonNodesDown, "node-3")
	if got := volumes(t, p.servers(r)[0])[v.Name]; got.Status != "Started" {
		t.Errorf("the volume is %q while a server is away, want Started", got.Status)
	}
	must(t, down.StartGlusterd(t.Context()))
	gone(t, r, v)

	for _, s := range p.servers(r) {
		if _, is := volumes(t, s)[v.Name]; is {
			t.Errorf("%s still has the volume", s.Name())
		}
		files := retiredFiles(t, s, v.Status.VolumeID)
		if len(files) != 1 {
			t.Errorf("%s has the file %d times below %s, want once: %v", s.Name(), len(files), retired, files)
		}
		for _, root := range s.Bricks() {
			if _, err := os.Lstat(s.Path(filepath.Join(root, v.Status.VolumeID))); err == nil {
				t.Errorf("%s still has %s/%s", s.Name(), root, v.Status.VolumeID)
			}
		}
	}
	// The name is free again.
	again := p.volume(t, r, v.Name)
	if again.Status.VolumeID == v.Status.VolumeID {
		t.Errorf("a new volume got the id of the deleted one, %s", v.Status.VolumeID)
	}
	remove(t, r, again)
}

// retiredFiles finds the file "precious" of a retired volume on a server.
func retiredFiles(t *testing.T, s *local.Server, id string) []string {
	t.Helper()
	var out []string
	for _, root := range s.Bricks() {
		shelf := s.Path(filepath.Join(root, retired))
		err := filepath.Walk(shelf, func(path string, info os.FileInfo, err error) error {
			if os.IsNotExist(err) {
				return nil
			}
			if err != nil {
				return err
			}
			if info.Name() == "precious" && strings.Contains(path, id) {
				data, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				out = append(out, strings.TrimPrefix(path, shelf)+"="+string(data))
			}
			return nil
		})
		must(t, err)
	}
	for _, f := range out {
		if !strings.HasSuffix(f, "=as it was") {
			t.Errorf("%s: %s", s.Name(), f)
		}
	}
	return out
}
