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
	retriedFor = 2 * time.Second        // see RetriedMax
	triedAgain = "; tried again"        // ends a sample of such a read
)

// A Config says what is written and where.
type Config struct {
	Dir      string        // folder on the volume; made when missing
	Report   string        // file the Report is written to, every ReportEvery; off the volume
	Files    int           // files kept; the oldest goes when there is one more. Default FilesDefault
	BytesMax int           // largest file; sizes are even between 1 and that. Default BytesMaxDefault
	Pause    time.Duration // after each write and each read; default PauseDefault, none when negative
	Seed     uint64        // of contents, sizes and the order of reading

	// Ledger is a file off the volume, on a disk that outlives the writer, with
	// what is on the volume. A run that finds one reads all files in it first, as
	// Report.Resumed, and goes on behind them. Optional.
	Ledger string
	// Excuse is a file off the volume: while it exists, calls may fail, because
	// everything that serves them is down. What was written before must be there
	// afterwards all the same. Optional.
	Excuse string
}

// nameFormat makes the name of a file from its number.
const nameFormat = "f%08d"

// writer is a run under way.
type writer struct {
	cfg    Config
	ledger *ledger

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
	ledger, files, next, err := openLedger(cfg.Ledger)
	if err != nil {
		return Report{}, err
	}
	w := &writer{cfg: cfg, ledger: ledger, files: files, calls: map[string]time.Time{}, rep: Report{PID: os.Getpid(), Dir: cfg.Dir, Started: time.Now()}}
	if err := w.save(); err != nil {
		return Report{}, errors.Join(err, ledger.close())
	}
	stopSaving := make(chan struct{})
	var work, saving sync.WaitGroup
	saving.Go(func() { w.keepSaving(stopSaving) })
	if ledger != nil {
		resumed := w.readAll()
		w.mu.Lock()
		w.rep.Resumed, w.rep.Kept = resumed, len(files)
		w.mu.Unlock()
	}
	work.Go(func() { w.write(ctx, next) })
	work.Go(func() { w.read(ctx) })
	work.Wait()
	verified := w.readAll()
	close(stopSaving)
	saving.Wait()
	w.mu.Lock()
	w.rep.Done, w.rep.Verified = true, verified
	w.mu.Unlock()
	return w.report(), errors.Join(w.save(), ledger.close())
}

// write writes file after file, from number next on.
func (w *writer) write(ctx context.Context, next uint64) {
	for n := next; ctx.Err() == nil; n++ {
		f, data := w.content(n)
		if err := w.call("write", "write "+f.Name, func() error { return w.writeDurably(f.Name, data) }); err != nil {
			sleep(ctx, errorPause)
			continue
		}
		w.note(w.ledger.enter(f))
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
			w.note(w.ledger.strike(oldest.Name))
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
	return File{Name: fmt.Sprintf(nameFormat, n), Bytes: int64(len(data)), SHA256: hex.EncodeToString(sum[:])}, data
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

// readAll reads all there is once more and counts what is as it was written.
func (w *writer) readAll() (equal int) {
	w.mu.Lock()
	files := append([]File(nil), w.files...)
	w.mu.Unlock()
	for _, f := range files {
		if w.check(f) {
			equal++
		}
	}
	return equal
}

// note counts that the ledger could not be kept: without it nothing is proven.
func (w *writer) note(err error) {
	if err == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rep.Errors++
	w.sample(err.Error())
}

// check reads f and compares; a file that was removed meanwhile is fine.
func (w *writer) check(f File) bool {
	sum, n, err := "", int64(0), error(nil)
	failed := w.call("read", "read "+f.Name, func() error {
		for begun, again := time.Now(), false; ; again = true {
			sum, n, err = sumFile(filepath.Join(w.cfg.Dir, f.Name))
			if !errors.Is(err, syscall.EINVAL) || w.excused() || time.Since(begun) > retriedFor {
				break
			}
			if !again {
				w.retried(f, err)
			}
			time.Sleep(errorPause) // its client comes to rest
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

// retried counts a read that gluster refused for no reason of the file's.
func (w *writer) retried(f File, err error) {
	w.mu.Lock()
	w.rep.Retried++
	w.sample("read " + f.Name + ": " + err.Error() + triedAgain)
	w.mu.Unlock()
}

// expected tells whether f should still be there.
func (w *writer) expected(f File) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.files) > 0 && f.Name >= w.files[0].Name
}

// call runs one piece of work, times it and counts what goes wrong.
func (w *writer) call(who, what string, do func() error) error {
	excused := w.excused()
	begun := time.Now()
	w.mu.Lock()
	w.calls[who] = begun
	w.mu.Unlock()
	err := do()
	took := time.Since(begun)
	if excused = excused || err != nil && w.excused(); excused {
		took = 0 // says nothing about how a volume serves that is there
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.calls, who)
	w.rep.SlowestMillis = max(w.rep.SlowestMillis, took.Milliseconds())
	if took > StallAfter {
		w.rep.Stalls++
	}
	switch {
	case err == nil:
	case excused:
		w.rep.Excused++
	default:
		w.rep.Errors++
		w.sample(what + ": " + err.Error())
	}
	return err
}

// excused tells whether calls may fail now.
func (w *writer) excused() bool {
	if w.cfg.Excuse == "" {
		return false
	}
	_, err := os.Stat(w.cfg.Excuse)
	return err == nil
}

// sample keeps the first few things that went wrong.
func (w *writer) sample(text string) {
	if len(w.rep.Samples) < SamplesMax {
		w.rep.Samples = append(w.rep.Samples, time.Now().UTC().Format(time.RFC3339Nano)+" "+text)
	}
}

// writeDurably makes a file that is complete and on disk when it has its name;
// with a ledger, the name is on disk too.
func (w *writer) writeDurably(name string, data []byte) error {
	dir := w.cfg.Dir
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
	if err := os.Rename(tmp, filepath.Join(dir, name)); err != nil || w.ledger == nil {
		return err
	}
	return syncFolder(dir)
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
