package writer

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A File is one that should be in the folder.
type File struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// A Report says how a run fares. A good one has neither errors nor mismatches
// and, once Done, as many files verified as there are.
type Report struct {
	PID     int       `json:"pid"` // as the writer itself sees it
	Dir     string    `json:"dir"`
	Started time.Time `json:"started"`
	Updated time.Time `json:"updated"` // an old one means that the writer is gone
	Done    bool      `json:"done"`    // it was stopped and read every file once more

	Written      int64 `json:"written"` // files
	WrittenBytes int64 `json:"writtenBytes"`
	Read         int64 `json:"read"` // files
	ReadBytes    int64 `json:"readBytes"`
	Verified     int   `json:"verified"` // files read at the end and found equal

	Kept    int `json:"kept"`    // files in the ledger that an earlier run left
	Resumed int `json:"resumed"` // of those, read at the beginning and found equal

	Excused    int64    `json:"excused"`    // calls that failed while they might, see Config.Excuse
	Errors     int64    `json:"errors"`     // calls that failed
	Retried    int64    `json:"retried"`    // reads that were refused once, see RetriedMax
	Mismatches int64    `json:"mismatches"` // files that were not what was written
	Samples    []string `json:"samples,omitempty"`

	Stalls        int64 `json:"stalls"` // calls that took longer than StallAfter
	SlowestMillis int64 `json:"slowestMillis"`
	WaitingMillis int64 `json:"waitingMillis"` // of the longest call under way

	Files []File `json:"files"` // what should be there now, oldest first
}

// RetriedMax is how many reads may be refused with EINVAL and succeed when tried
// again, for up to two seconds. GlusterFS 10.3 does so, rarely and on a busy
// machine, right after an add-brick: its client opens a file before it knows, in
// its new graph, where the file is (gluster/glusterfs issue 1328). No order of
// commands avoids it.
const RetriedMax = 2

// Problem is one line saying what is wrong, or empty.
func (r Report) Problem() string {
	switch {
	case r.Errors+r.Mismatches > 0:
		first := ""
		for _, s := range r.Samples {
			if !strings.HasSuffix(s, triedAgain) {
				first = "; first: " + s
				break
			}
		}
		return fmt.Sprintf("%d errors, %d mismatches%s", r.Errors, r.Mismatches, first)
	case r.Retried > RetriedMax:
		return fmt.Sprintf("%d reads were refused with EINVAL and succeeded when tried again; first: %s", r.Retried, r.Samples[0])
	case r.Resumed != r.Kept:
		return fmt.Sprintf("%d of %d files of an earlier run verified", r.Resumed, r.Kept)
	case r.Done && r.Verified != len(r.Files):
		return fmt.Sprintf("%d of %d files verified at the end", r.Verified, len(r.Files))
	default:
		return ""
	}
}

// Load reads a report file. It is replaced atomically, so never half written.
func Load(file string) (Report, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return Report{}, fmt.Errorf("reading the writer's report: %w", err)
	}
	var r Report
	if err := json.Unmarshal(data, &r); err != nil {
		return Report{}, fmt.Errorf("reading the writer's report %q: %w", file, err)
	}
	return r, nil
}

// Verify reads every file of the report below dir and returns what differs,
// all of it.
func (r Report) Verify(dir string) error {
	var errs []error
	for _, f := range r.Files {
		sum, n, err := sumFile(filepath.Join(dir, f.Name))
		if err != nil {
			errs = append(errs, err)
		} else if sum != f.SHA256 {
			errs = append(errs, fmt.Errorf("%s: %d bytes with SHA-256 %s, want %d with %s", f.Name, n, sum, f.Bytes, f.SHA256))
		}
	}
	return errors.Join(errs...)
}

// report returns the state of the run.
func (w *writer) report() Report {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.rep
	r.Updated = time.Now()
	r.Samples = append([]string(nil), r.Samples...)
	r.Files = append([]File(nil), w.files...)
	for _, begun := range w.calls {
		r.WaitingMillis = max(r.WaitingMillis, time.Since(begun).Milliseconds())
	}
	return r
}

// save writes the report; a write that is cut off leaves the old one.
func (w *writer) save() error {
	data, err := json.Marshal(w.report())
	if err != nil {
		return fmt.Errorf("encoding the writer's report: %w", err)
	}
	tmp := w.cfg.Report + ".new"
	if err := os.WriteFile(tmp, data, 0o644); err != nil {
		return fmt.Errorf("writing the writer's report: %w", err)
	}
	if err := os.Rename(tmp, w.cfg.Report); err != nil {
		return fmt.Errorf("writing the writer's report: %w", err)
	}
	return nil
}

// keepSaving saves until told to stop. A report that cannot be saved is seen by
// its age.
func (w *writer) keepSaving(stop <-chan struct{}) {
	t := time.NewTicker(ReportEvery)
	defer t.Stop()
	for {
		select {
		case <-stop:
			return
		case <-t.C:
			_ = w.save()
		}
	}
}
