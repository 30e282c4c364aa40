package journal

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var crashStates = flag.Int("journal.crashstates", 400, "crash states TestCrashStates looks at")

// A sysOp is one traced system call that changes what a disk may hold.
type sysOp struct {
	kind   string // write, truncate, sync, rename, syncdir, create, remove, ack
	file   string
	data   []byte
	offset int64
	seq    Seq
}

// trace runs a child that makes a journal and appends to it, and returns what
// it asked of the disk, in order, and what it acknowledged when.
func trace(t *testing.T) []sysOp {
	t.Helper()
	dir := t.TempDir()
	log := filepath.Join(dir, "trace")
	data := filepath.Join(dir, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := child(t, "append", filepath.Join(data, "journal.db"), 6, strace(t), "-f", "-qq", "-y", "-xx", "-s", "2097152", "-o", log,
		"-e", "trace=openat,pwrite64,write,ftruncate,fdatasync,fsync,renameat2,unlinkat,unlink")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := os.Open(log)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var ops []sysOp
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 16<<20)
	pending := map[string]string{}
	for sc.Scan() {
		pid, line, _ := strings.Cut(strings.TrimSpace(sc.Text()), " ")
		line = strings.TrimSpace(line)
		// A call that blocks is told in two lines; it counts when it returned.
		if head, ok := strings.CutSuffix(line, " <unfinished ...>"); ok {
			pending[pid] = head
			continue
		}
		if i := strings.Index(line, " resumed>"); i >= 0 && strings.HasPrefix(line, "<... ") {
			line = pending[pid] + line[i+len(" resumed>"):]
		}
		if op, ok := parseCall(t, line, data); ok {
			ops = append(ops, op)
		}
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	return ops
}

var (
	callRE  = regexp.MustCompile(`^(\w+)\((.*)\)\s*= (-?\d+)`)
	bytesRE = regexp.MustCompile(`"((?:\\x[0-9a-f]{2})*)"`)
	fdRE    = regexp.MustCompile(`^(\d+)<([^>]*)>`)
	lastRE  = regexp.MustCompile(`, (\d+)$`)
)

func unhex(s string) []byte {
	b := make([]byte, 0, len(s)/4)
	for i := 0; i+3 < len(s); i += 4 {
		v, err := strconv.ParseUint(s[i+2:i+4], 16, 8)
		if err != nil {
			panic(err)
		}
		b = append(b, byte(v))
	}
	return b
}

// parseCall turns a line of strace into an operation on a file of dir.
func parseCall(t *testing.T, line, dir string) (op sysOp, ok bool) {
	t.Helper()
	m := callRE.FindStringSubmatch(line)
	if m == nil || strings.HasPrefix(m[3], "-") {
		return op, false
	}
	call, args := m[1], m[2]
	strs := bytesRE.FindAllStringSubmatch(args, -1)
	str := func(i int) []byte { return unhex(strs[i][1]) }
	fd := fdRE.FindStringSubmatch(args)
	if fd != nil {
		name := fd[2]
		if strings.HasPrefix(name, `\x`) {
			name = string(unhex(name))
		}
		op.file = name
	}
	last := func() int64 {
		n, err := strconv.ParseInt(lastRE.FindStringSubmatch(args)[1], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	inside := strings.HasPrefix(op.file, dir+"/")
	switch call {
	case "write":
		if num, isAck := bytes.CutPrefix(str(0), []byte("ack ")); isAck && fd[1] == "1" {
			n, err := strconv.ParseUint(string(bytes.TrimSpace(num)), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return sysOp{kind: "ack", seq: Seq(n)}, true
		}
	case "pwrite64":
		op.kind, op.data, op.offset = "write", str(0), last()
		return op, inside
	case "ftruncate":
		op.kind, op.offset = "truncate", last()
		return op, inside
	case "fdatasync":
		op.kind = "sync"
		return op, inside
	case "fsync":
		op.kind = "sync"
		if op.file == dir {
			op.kind = "syncdir"
			inside = true
		}
		return op, inside
	case "renameat2":
		return sysOp{kind: "rename", file: string(str(0)), data: str(1)}, true
	case "openat":
		if name := string(str(len(strs) - 1)); strings.HasPrefix(name, dir+"/") && strings.Contains(args, "O_CREAT") {
			return sysOp{kind: "create", file: name}, true
		}
	}
	return op, false
}

// A disk is what may be on it after a power cut: per file what was synced and
// what was only written, and which names are durable.
type disk struct {
	synced  map[string][]byte  // contents at the last sync, by inode (its first name)
	written map[string][]sysOp // since then
	name    string             // what the journal's inode is called now
	durable string             // what it is called on the disk for sure; "" none
	names   []string           // what it may be called: since the last directory sync
	acked   Seq
	lies    int // every n-th sync does nothing; 0: none
	syncs   int
}

func (d *disk) apply(op sysOp) {
	switch op.kind {
	case "create":
		d.synced, d.written = map[string][]byte{"j": nil}, map[string][]sysOp{}
		d.name = op.file
		d.names = append(d.names, op.file)
	case "write", "truncate":
		d.written["j"] = append(d.written["j"], op)
	case "sync":
		if d.syncs++; d.lies != 0 && d.syncs%d.lies == 0 {
			return
		}
		d.synced["j"] = replay(d.synced["j"], d.written["j"])
		d.written["j"] = nil
	case "rename":
		d.name = string(op.data)
		d.names = append(d.names, d.name)
	case "syncdir":
		d.durable, d.names = d.name, nil
	case "ack":
		d.acked = op.seq
	}
}

func replay(b []byte, ops []sysOp) []byte {
	b = bytes.Clone(b)
	for _, op := range ops {
		if op.kind == "truncate" {
			b = resize(b, op.offset)
			continue
		}
		if end := op.offset + int64(len(op.data)); end > int64(len(b)) {
			b = resize(b, end)
		}
		copy(b[op.offset:], op.data)
	}
	return b
}

func resize(b []byte, n int64) []byte {
	if n <= int64(len(b)) {
		return b[:n]
	}
	return append(b, make([]byte, n-int64(len(b)))...)
}

const sector = 512

// after picks one state the disk may be in: any subset of the writes since the
// last sync, some of them torn at sectors, and any of the possible names.
func (d *disk) after(rng *rand.Rand) (contents []byte, name string) {
	var kept []sysOp
	mode := rng.IntN(4) // all, none, a subset, a torn subset
	for _, op := range d.written["j"] {
		switch {
		case mode == 1, mode > 1 && rng.IntN(2) == 0:
			continue
		case mode == 3 && op.kind == "write" && rng.IntN(2) == 0:
			for at := 0; at < len(op.data); at += sector {
				if rng.IntN(2) == 0 {
					kept = append(kept, sysOp{kind: "write", data: op.data[at:min(len(op.data), at+sector)], offset: op.offset + int64(at)})
				}
			}
			continue
		}
		kept = append(kept, op)
	}
	name = d.durable
	if len(d.names) > 0 {
		if i := rng.IntN(len(d.names) + 1); i < len(d.names) {
			name = d.names[i]
		}
	}
	return replay(d.synced["j"], kept), name
}

// TestCrashStates enumerates, seeded, what a disk may hold after a power cut at
// every point of making and appending to a journal: each state must open, hold
// everything that was acknowledged, and verify. A disk that lies about every
// second sync is the control: there the same checks must fail.
func TestCrashStates(t *testing.T) {
	ops := trace(t)
	kinds := map[string]int{}
	for _, op := range ops {
		kinds[op.kind]++
	}
	t.Logf("traced: %v", kinds)
	if kinds["ack"] != 19 || kinds["rename"] != 1 || kinds["sync"] < 40 || kinds["write"] < 60 || kinds["syncdir"] != 1 {
		t.Fatalf("the trace is not what was done: %v", kinds)
	}
	dir := memoryDir(t)
	ends, bad := enumerate(t, dir, ops, &disk{}, *crashStates)
	for _, err := range bad {
		t.Error(err)
	}
	t.Logf("journals ended at %v", ends)
	if ends[0] != 1 || len(ends) < 15 {
		t.Errorf("journals ended at %v: the states do not differ as they should", ends)
	}
	if _, bad := enumerate(t, dir, ops, &disk{lies: 2}, 80); len(bad) == 0 {
		t.Error("a disk that lies about syncs goes unnoticed: the check proves nothing")
	} else {
		t.Logf("control: %d states bad, for example: %v", len(bad), bad[0])
	}
}

// enumerate checks about n states spread over the trace. It returns where the
// journals ended, and what was wrong.
func enumerate(t *testing.T, dir string, ops []sysOp, d *disk, n int) (ends []Seq, bad []error) {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 6))
	seen := map[Seq]bool{}
	every := max(1, len(ops)/n)
	each := max(1, n/len(ops))
	for i, op := range ops {
		if d.apply(op); d.synced == nil || op.kind == "ack" || i%every != 0 {
			continue
		}
		for k := range each {
			contents, name := d.after(rng)
			end, err := crashed(t, filepath.Join(dir, "state"), contents, name, d.acked)
			if err != nil {
				bad = append(bad, fmt.Errorf("after call %d (%s), state %d, %d bytes called %q: %w", i, op.kind, k, len(contents), filepath.Base(name), err))
			}
			seen[end] = true
		}
	}
	return slices.Sorted(maps.Keys(seen)), bad
}

// crashed puts a state into place, opens it, works on, and returns where it
// ended.
func crashed(t *testing.T, dir string, contents []byte, name string, acked Seq) (end Seq, err error) {
	t.Helper()
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "journal.db")
	if name != "" {
		at := filepath.Join(dir, filepath.Base(name))
		err := os.WriteFile(at, bytes.TrimRight(contents, "\x00"), 0o600)
		if err := errors.Join(err, os.Truncate(at, int64(len(contents)))); err != nil {
			t.Fatal(err)
		}
	}
	j, err := Open(t.Context(), path, Options{Fatal: func(err error) { t.Errorf("fatal: %v", err) }})
	if err != nil {
		return 0, err
	}
	end = j.Head().Seq
	_, err = j.OpenEpoch(t.Context(), Opened{}) // the free pages are reckoned anew
	if err = errors.Join(err, j.Close()); err != nil {
		return end, err
	}
	r, err := Verify(t.Context(), path)
	switch _, left := os.Stat(path + ".tmp"); {
	case err != nil:
		return end, err
	case end < acked:
		return end, fmt.Errorf("event %d was acknowledged, the journal ended at %d", acked, end)
	case len(j.Repaired()) > 0:
		return end, fmt.Errorf("repaired %v", j.Repaired())
	case left == nil:
		return end, errors.New("the temporary file is still there")
	}
	return end, r.Err()
}
