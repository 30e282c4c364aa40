package e2e

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/test/local"
	"github.com/gluster/anthill/test/local/writer"
	"github.com/gluster/anthill/test/rig"
)

// mount mounts a volume until the test ends.
func mount(t *testing.T, r *rig.Rig, volume string) *local.Mount {
	t.Helper()
	m, err := r.Env.Mount(t.Context(), volume)
	must(t, err)
	t.Cleanup(func() {
		// Of a test that failed a client may still be at work.
		if err := m.Unmount(context.WithoutCancel(t.Context())); err != nil && !t.Failed() {
			t.Error(err)
		}
	})
	return m
}

// fill puts a file onto a volume.
func fill(t *testing.T, r *rig.Rig, v *v1alpha1.GlusterVolume) {
	t.Helper()
	m := mount(t, r, v.Name)
	must(t, os.WriteFile(filepath.Join(m.Dir(), "file"), []byte("data"), 0o644))
}

// writing mounts a volume and has a client write and re-read files from now on.
func writing(t *testing.T, r *rig.Rig, volume string) *local.Mount {
	t.Helper()
	m := mount(t, r, volume)
	must(t, m.StartWriter(t.Context(), writer.Config{}))
	progress(t, m, 5)
	return m
}

// progress waits until the client has written so many files more.
func progress(t *testing.T, m *local.Mount, files int64) {
	t.Helper()
	begun := int64(-1)
	await(t, "the client has written", func() string {
		report, err := m.WriterReport()
		if err != nil {
			return err.Error()
		}
		if begun < 0 {
			begun = report.Written
		}
		if report.Written < begun+files {
			return "it has not"
		}
		return ""
	})
}

// wellServed ends the client and fails unless every call of it succeeded and
// every file was what had been written.
func wellServed(t *testing.T, m *local.Mount) {
	t.Helper()
	report, err := m.StopWriter(t.Context())
	must(t, err)
	if p := report.Problem(); p != "" {
		t.Errorf("the client saw: %s", p)
	}
	if !report.Done || report.Verified == 0 {
		t.Errorf("the client did not read all its files at the end: %d verified", report.Verified)
	}
	t.Logf("the client wrote %d files and read %d, all equal; longest call %d ms", report.Written, report.Read, report.SlowestMillis)
}
