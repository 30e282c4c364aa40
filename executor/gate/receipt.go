package gate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// A record is a receipt as it lies on disk. What changes while the child runs
// comes last, so that an update in place leaves the rest as it was.
type record struct {
	Receipt
	Command  string        `json:"command"` // digest of what was asked, to notice a reused attempt
	Deadline time.Duration `json:"childDeadline,omitempty"`
	Gate     process       `json:"gate"`
	Child    process       `json:"child"`
}

const (
	// recordSpare is left after a new record: room to complete it in place
	// when the disk is full.
	recordSpare    = 1024
	recordSize     = 4096
	recordBytesMax = 4 << 20
	// keptOutputMax bounds the output in a receipt; the reply has more of it.
	keptOutputMax = 64 << 10
	// pruneSlack makes pruning rare.
	pruneSlack = 32
	// orphanGrace is what a child may run past its deadline before a gate that
	// waits for the lock ends it in the place of the gate that was killed.
	orphanGrace = 2 * time.Second
)

func (g *gate) receiptDir() string { return filepath.Join(g.StateDir, "receipts") }

func (g *gate) receiptPath(attempt string) string {
	return filepath.Join(g.receiptDir(), attempt+".json")
}

// receipt answers GetRecv.
func (g *gate) receipt(req Request) (Reply, error) {
	h, busy := g.held()
	rec, err := g.load(req.Attempt)
	if errors.Is(err, fs.ErrNotExist) {
		return Reply{}, refusef(ExitFailed, ReasonNoReceipt, "attempt %q is not on record", req.Attempt)
	}
	if err != nil {
		return Reply{}, err
	}
	r := rec.Receipt
	r.Running = r.Ended == 0 && busy && h.Attempt == req.Attempt
	return Reply{Receipt: &r}, nil
}

// load reads a record. One that is not readable began and did not end.
func (g *gate) load(attempt string) (record, error) {
	b, err := readBounded(g.receiptPath(attempt), recordBytesMax)
	if err != nil {
		return record{}, fmt.Errorf("reading the receipt of attempt %q: %w", attempt, err)
	}
	var r record
	if err := json.Unmarshal(bytes.TrimSpace(b), &r); err == nil && r.Attempt == attempt {
		return r, nil
	}
	return record{Receipt: Receipt{Attempt: attempt}}, nil
}

// begin puts the receipt of req on disk; when it returns nil the effect may
// begin. The caller holds the lock and knows there is none yet.
func (g *gate) begin(req Request) (*record, error) {
	if err := g.prune(); err != nil {
		return nil, err
	}
	r := &record{
		Receipt: Receipt{
			Attempt: req.Attempt, Verb: req.Verb, Argv: req.Argv, Fence: req.Fence,
			Started: g.Now().UnixNano(), GlusterdStart: g.glusterd().Start,
		},
		Command: command(req), Deadline: req.deadline(), Gate: thisProcess(os.Getpid()),
	}
	b, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("writing the receipt: %w", err)
	}
	b = pad(b, max(recordSize, len(b)+recordSpare))
	path := g.receiptPath(req.Attempt)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("writing the receipt: %w", err)
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = syncDir(g.receiptDir())
	}
	if err != nil {
		// Nothing ran: without its file the attempt can be sent again.
		_ = os.Remove(path)
		return nil, fmt.Errorf("writing the receipt: %w", err)
	}
	return r, nil
}

// started notes the child, for a gate that finds it alone. It is of use only
// while the machine runs, so it is not synced.
func (g *gate) started(r *record, pid int) {
	r.Child = thisProcess(pid)
	_ = g.overwrite(r)
}

// finish completes the receipt durably. On a full disk it gives up the output
// rather than the exit code.
func (g *gate) finish(r *record, res *Result) error {
	r.Ended = g.Now().UnixNano()
	if res != nil {
		kept := *res
		kept.Stdout, kept.Stderr = head(kept.Stdout), head(kept.Stderr)
		kept.Truncated = res.Truncated || len(kept.Stdout) < len(res.Stdout) || len(kept.Stderr) < len(res.Stderr)
		r.Result = &kept
	}
	b, err := json.Marshal(r)
	if err == nil {
		err = WriteDurably(g.receiptPath(r.Attempt), b)
	}
	if err == nil {
		return nil
	}
	if r.Result != nil {
		r.Result.Stdout, r.Result.Stderr, r.Result.Truncated = nil, nil, true
	}
	if oerr := g.overwrite(r); oerr != nil {
		r.Ended = 0
		return fmt.Errorf("completing the receipt: %w", errors.Join(err, oerr))
	}
	return nil
}

// overwrite writes a record over its own space, and syncs one that ended.
func (g *gate) overwrite(r *record) error {
	f, err := os.OpenFile(g.receiptPath(r.Attempt), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if int64(len(b)) > fi.Size() {
		return fmt.Errorf("%d bytes do not fit into %d", len(b), fi.Size())
	}
	if _, err := f.WriteAt(pad(b, int(fi.Size())), 0); err != nil {
		return err
	}
	if r.Ended == 0 {
		return nil
	}
	return unix.Fdatasync(int(f.Fd()))
}

// prune keeps the newest ReceiptsMax receipts. Those without an end stay twice
// as long: they are evidence somebody has still to settle.
func (g *gate) prune() error {
	entries, err := os.ReadDir(g.receiptDir())
	if err != nil {
		return fmt.Errorf("listing the receipts: %w", err)
	}
	if len(entries) <= ReceiptsMax+pruneSlack {
		return nil
	}
	type file struct {
		name string
		at   time.Time
	}
	files := make([]file, 0, len(entries))
	for _, e := range entries {
		if fi, err := e.Info(); err == nil {
			files = append(files, file{e.Name(), fi.ModTime()})
		}
	}
	slices.SortFunc(files, func(a, b file) int { return a.at.Compare(b.at) })
	left := len(files)
	for i, f := range files[:len(files)-ReceiptsMax] {
		attempt, ok := bytes.CutSuffix([]byte(f.name), []byte(".json"))
		if ok && len(files)-i <= 2*ReceiptsMax {
			if r, err := g.load(string(attempt)); err == nil && r.Ended == 0 {
				continue
			}
		}
		if err := os.Remove(filepath.Join(g.receiptDir(), f.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("pruning the receipts: %w", err)
		}
		if left--; left <= ReceiptsMax {
			break
		}
	}
	return nil
}

// endOrphan kills the child of a gate that was killed, once its deadline is
// past: nobody else is left to do it, and it holds the lock.
func (g *gate) endOrphan() {
	b, err := readBounded(g.lockPath(), holderSize)
	if err != nil {
		return
	}
	var h holder
	if json.Unmarshal(bytes.TrimSpace(b), &h) != nil || !word(h.Attempt, 128) {
		return
	}
	r, err := g.load(h.Attempt)
	if err != nil || r.Ended != 0 || r.Gate.alive() {
		return
	}
	if r.Child.PID == 0 && g.Now().UnixNano()-r.Started > int64(r.Deadline+orphanGrace) {
		r.Child = g.heir() // the gate was killed before it could note it
	}
	if !r.Child.alive() {
		return
	}
	if r.Child.age() > r.Deadline+orphanGrace {
		_ = unix.Kill(-r.Child.PID, unix.SIGKILL)
	}
}

// command is a digest of what a request asks for, apart from who asks and when.
func command(req Request) string {
	b, err := json.Marshal(Request{Verb: req.Verb, Argv: req.Argv, Dirs: req.Dirs, Brick: req.Brick, Device: req.Device, VolumeID: req.VolumeID})
	if err != nil {
		panic(err) // strings and structs of strings: it cannot fail
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func head(b []byte) []byte { return b[:min(len(b), keptOutputMax)] }

func pad(b []byte, size int) []byte {
	if len(b) >= size {
		return b
	}
	return append(b, bytes.Repeat([]byte{' '}, size-len(b))...)
}
