package writer

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// Defaults and limits.
const (
	FilesDefault    = 200
	BytesMaxDefault = 256 << 10
	PauseDefault    = 10 * time.Millisecond
	ReportEvery     = 500 * time.Millisecond
	StallAfter      = time.Second
	SamplesMax      = 20

	errorPause = 100 * time.Millisecond // a broken volume is not hammered
)

// A Config says what is written and where.
type Config struct {
	Dir      string        // folder on the volume; made when missing
	Report   string        // file the Report is written to, every ReportEvery; off the volume
	Files    int           // files kept; the oldest goes when there is one more. Default FilesDefault
	BytesMax int           // largest file; sizes are even between 1 and that. Default BytesMaxDefault
	Pause    time.Duration // after each write and each read; default PauseDefault, none when negative
	Seed     uint64        // of contents, sizes and the order of reading
}

// writer is a run under way.
type writer struct {
	cfg Config

	mu    sync.Mutex
	rep   Report
	files []File               // oldest first
	calls map[string]time.Time // calls under way, by goroutine
}

// Run writes and re-reads until ctx ends, then reads every file once more. The
// Report says how it went; the error only that it could not begin.
func Run(ctx context.Context, cfg Config) (Report, error) {
	if cfg.Files <= 0 {
		cfg.Files = FilesDefault
	}
	if cfg.BytesMax <= 0 {
		cfg.BytesMax = BytesMaxDefault
	}
	if cfg.Pause == 0 {
		cfg.Pause = PauseDefault
	}
	if err := os.MkdirAll(cfg.Dir, 0o755); err != nil {
		return Report{}, fmt.Errorf("making the folder to write to: %w", err)
	}
	w := &writer{cfg: cfg, calls: map[string]time.Time{}, rep: Report{PID: os.Getpid(), Dir: cfg.Dir, Started: time.Now()}}
	if err := w.save(); err != nil {
		return Report{}, err
	}
	stopSaving := make(chan struct{})
	var work, saving sync.WaitGroup
	saving.Go(func() { w.keepSaving(stopSaving) })
	work.Go(func() { w.write(ctx) })
	work.Go(func() { w.read(ctx) })
	work.Wait()
	w.readAll()
	close(stopSaving)
	saving.Wait()
	w.mu.Lock()
	w.rep.Done = true
	w.mu.Unlock()
	return w.report(), w.save()
}

// write writes file after file.
func (w *writer) write(ctx context.Context) {
	for n := uint64(0); ctx.Err() == nil; n++ {
		f, data := w.content(n)
		if err := w.call("write", "write "+f.Name, func() error { return writeDurably(w.cfg.Dir, f.Name, data) }); err != nil {
			sleep(ctx, errorPause)
			continue
		}
		w.mu.Lock()
		w.rep.Written++
		w.rep.WrittenBytes += f.Bytes
		w.files = append(w.files, f)
		var oldest *File
		if len(w.files) > w.cfg.Files {
			oldest = &w.files[0]
			w.files = w.files[1:]
		}
		w.mu.Unlock()
		if oldest != nil {
			// Counted like any other call; there is nothing to do about it.
			_ = w.call("write", "remove "+oldest.Name, func() error { return os.Remove(filepath.Join(w.cfg.Dir, oldest.Name)) })
		}
		sleep(ctx, w.cfg.Pause)
	}
}

// content makes file n: name, size and bytes follow from the seed.
func (w *writer) content(n uint64) (File, []byte) {
	var seed [32]byte
	binary.LittleEndian.PutUint64(seed[:], w.cfg.Seed)
	binary.LittleEndian.PutUint64(seed[8:], n)
	r := rand.NewChaCha8(seed)
	data := make([]byte, 1+r.Uint64()%uint64(w.cfg.BytesMax))
	_, _ = r.Read(data) // never fails
	sum := sha256.Sum256(data)
	return File{Name: fmt.Sprintf("f%08d", n), Bytes: int64(len(data)), SHA256: hex.EncodeToString(sum[:])}, data
}

// read re-reads files at random.
func (w *writer) read(ctx context.Context) {
	r := rand.New(rand.NewPCG(w.cfg.Seed, 1))
	for ctx.Err() == nil {
		w.mu.Lock()
		n := len(w.files)
		var f File
		if n > 0 {
			f = w.files[r.IntN(n)]
		}
		w.mu.Unlock()
		if n == 0 {
			sleep(ctx, errorPause)
			continue
		}
		if !w.check(f) {
			sleep(ctx, errorPause)
		}
		sleep(ctx, w.cfg.Pause)
	}
}

// readAll reads what is left once more.
func (w *writer) readAll() {
	w.mu.Lock()
	files := append([]File(nil), w.files...)
	w.mu.Unlock()
	for _, f := range files {
		if w.check(f) {
			w.mu.Lock()
			w.rep.Verified++
			w.mu.Unlock()
		}
	}
}

// check reads f and compares; a file that was removed meanwhile is fine.
func (w *writer) check(f File) bool {
	sum, n, err := "", int64(0), error(nil)
	failed := w.call("read", "read "+f.Name, func() error {
		sum, n, err = sumFile(filepath.Join(w.cfg.Dir, f.Name))
		if errors.Is(err, syscall.EINVAL) {
			w.retried(f, err)
			sum, n, err = sumFile(filepath.Join(w.cfg.Dir, f.Name))
		}
		if err != nil && !w.expected(f) {
			return nil
		}
		return err
	})
	if failed != nil || err != nil {
		return failed == nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rep.Read++
	w.rep.ReadBytes += n
	if sum != f.SHA256 {
		w.rep.Mismatches++
		w.sample(fmt.Sprintf("read %s: %d bytes with SHA-256 %s, want %d with %s", f.Name, n, sum, f.Bytes, f.SHA256))
		return false
	}
	return true
}

// retried counts a read that gluster refused for no reason of the file's, and
// lets its client come to rest.
func (w *writer) retried(f File, err error) {
	w.mu.Lock()
	w.rep.Retried++
	w.sample("read " + f.Name + ": " + err.Error() + "; tried again")
	w.mu.Unlock()
	time.Sleep(errorPause)
}

// expected tells whether f should still be there.
func (w *writer) expected(f File) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.files) > 0 && f.Name >= w.files[0].Name
}

// call runs one piece of work, times it and counts what goes wrong.
func (w *writer) call(who, what string, do func() error) error {
	begun := time.Now()
	w.mu.Lock()
	w.calls[who] = begun
	w.mu.Unlock()
	err := do()
	took := time.Since(begun)
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.calls, who)
	w.rep.SlowestMillis = max(w.rep.SlowestMillis, took.Milliseconds())
	if took > StallAfter {
		w.rep.Stalls++
	}
	if err != nil {
		w.rep.Errors++
		w.sample(what + ": " + err.Error())
	}
	return err
}

// sample keeps the first few things that went wrong.
func (w *writer) sample(text string) {
	if len(w.rep.Samples) < SamplesMax {
		w.rep.Samples = append(w.rep.Samples, time.Now().UTC().Format(time.RFC3339Nano)+" "+text)
	}
}

// writeDurably makes a file that is complete and on disk when it has its name.
func writeDurably(dir, name string, data []byte) error {
	tmp := filepath.Join(dir, "."+name)
	f, err := os.OpenFile(tmp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	// Close reports what the file system could not write back.
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(tmp, filepath.Join(dir, name))
}

// sumFile returns the SHA-256 and size of a file.
func sumFile(path string) (sum string, n int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	if n, err = io.Copy(h, f); err != nil {
		return "", n, err
	}
	return hex.EncodeToString(h.Sum(nil)), n, nil
}

func sleep(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
