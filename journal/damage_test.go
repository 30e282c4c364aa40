package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	bolt "go.etcd.io/bbolt"
)

// smallJournal makes a journal with an operation of every kind of fate and
// returns its bytes without the tail of the file that is not in use.
func smallJournal(t testing.TB) []byte {
	t.Helper()
	path := testPath(t)
	j, err := Open(t.Context(), path, testOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.OpenEpoch(t.Context(), Opened{Instance: "test"}); err != nil {
		t.Fatal(err)
	}
	runOp(t, j, 1)
	for _, evs := range [][]Event{
		{mustEvent(t, FenceRaised, uuid.Nil, Fence{Scope: "pool-2", Fence: 7})},
		{mustEvent(t, OpPlanned, testID(2), testPlan(2)), mustEvent(t, OpAbandoned, testID(2), Decision{Reason: "not now"})},
		{mustEvent(t, OpPlanned, testID(3), testPlan(3)), {Type: OpStarted, Op: testID(3)}, step(t, StepStarted, testID(3), "guard", 1, Started{AttemptID: "x"})},
	} {
		if _, err := j.Append(t.Context(), Guard{}, evs...); err != nil {
			t.Fatal(err)
		}
	}
	r, err := j.Verify(t.Context())
	if err != nil || !r.OK() {
		t.Fatalf("verify: %+v, %v", r, err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b[:r.Bytes]
}

func writeFile(t testing.TB, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "damaged.db")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A region is a stretch of the file that holds a record.
type region struct {
	what     string
	from, to int
}

// records lists the keys and values of every bucket but the ballast.
func records(t testing.TB, path string, file []byte) []region {
	t.Helper()
	db, err := bolt.Open(path, 0, &bolt.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var list []region
	err = db.View(func(tx *bolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bolt.Bucket) error {
			if bytes.Equal(name, bBallast) {
				return nil
			}
			return b.ForEach(func(k, v []byte) error {
				kv := append(bytes.Clone(k), v...) // bbolt keeps them side by side
				at := lastIndexLive(file, kv)
				if at < 0 {
					return fmt.Errorf("%s/%x is not in the file", name, k)
				}
				list = append(list, region{string(name), at, at + len(kv)})
				return nil
			})
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// lastIndexLive finds kv in a page that the newest tree reaches.
func lastIndexLive(file, kv []byte) int {
	for from := 0; ; {
		i := bytes.Index(file[from:], kv)
		if i < 0 {
			return -1
		}
		if from += i; live(file)[from/pageSize] {
			return from
		}
		from++
	}
}

// live tells which pages the newest tree reaches.
func live(file []byte) map[int]bool {
	w := walkBytes(file)
	pages := map[int]bool{}
	for i := range len(file) / pageSize {
		pages[i] = w.seen[i/64]&(1<<(i%64)) != 0
	}
	return pages
}

func walkBytes(file []byte) *walker {
	a, errA := readBoltMeta(file, 0)
	b, errB := readBoltMeta(file[pageSize:], 1)
	if errA != nil || errB != nil {
		panic(errors.Join(errA, errB))
	}
	if b.txid > a.txid {
		a = b
	}
	w := &walker{data: file, pages: a.pages, seen: make([]uint64, a.pages/64+1)}
	if err := w.buckets(a.root); err != nil {
		panic(err)
	}
	return w
}

// TestEveryBit flips every single bit of every live record. The file is changed
// under a database that stays open, which is what makes this fast.
func TestEveryBit(t *testing.T) {
	file := smallJournal(t)
	path := writeFile(t, file)
	regions := records(t, path, file)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	db, err := bolt.Open(path, 0, &bolt.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	verify := func() (r Report, err error) {
		err = contain(func() error { return db.View(func(tx *bolt.Tx) error { return r.tx(t.Context(), tx) }) })
		return r, err
	}
	if r, err := verify(); err != nil || !r.OK() {
		t.Fatalf("the undamaged journal: %+v, %v", r, err)
	}
	bits := map[string]int{}
	stride := 1
	if testing.Short() {
		stride = 5 // every fifth byte
	}
	for _, rg := range regions {
		for at := rg.from; at < rg.to; at += stride {
			for bit := range 8 {
				if _, err := f.WriteAt([]byte{file[at] ^ 1<<bit}, int64(at)); err != nil {
					t.Fatal(err)
				}
				r, err := verify()
				switch {
				case err == nil && r.OK():
					t.Errorf("bit %d of byte %d (%s) flipped, not found", bit, at, rg.what)
				case err != nil && !IsCorrupt(err) && !IsTooNew(err):
					t.Errorf("bit %d of byte %d (%s): %v", bit, at, rg.what, err)
				case IsTooNew(err):
					t.Errorf("bit %d of byte %d (%s) makes it look newer", bit, at, rg.what)
				}
				bits[rg.what]++
			}
			if _, err := f.WriteAt(file[at:at+1], int64(at)); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("bits flipped: %v", bits)
	if bits["ev"] < 30_000/stride || bits["meta"] == 0 || bits["op"] == 0 || bits["open"] == 0 || bits["intent"] == 0 {
		t.Errorf("too few: %v", bits)
	}
}

// outcome opens, reads and verifies a file in every way there is. None may
// panic, and what they say must agree.
func outcome(t *testing.T, what string, b []byte, want []Event) (found bool) {
	t.Helper()
	path := writeFile(t, b)
	r, verr := Verify(t.Context(), path)
	if verr != nil && !IsTooNew(verr) {
		t.Errorf("%s: Verify: %v", what, verr)
	}
	found = verr != nil || !r.OK()
	rd, err := OpenReader(t.Context(), path)
	if err == nil {
		_, err = rd.Stats(t.Context())
		_, err2 := rd.Ops(t.Context(), uuid.Nil, 0, Filter{})
		_, err3 := rd.Tombstones(t.Context())
		err = errors.Join(err, err2, err3, rd.Close())
	}
	if err != nil && !IsCorrupt(err) && !IsTooNew(err) {
		t.Errorf("%s: OpenReader: %v", what, err)
	}
	j, err := Open(t.Context(), path, Options{Fatal: func(error) {}})
	switch {
	case err != nil && !IsCorrupt(err) && !IsTooNew(err):
		t.Errorf("%s: Open: %v", what, err)
	case err != nil && !found:
		t.Errorf("%s: Open finds what Verify does not: %v", what, err)
	case err == nil:
		got, err := j.Read(1, 0)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: Open accepted other events than were written (%v)\n%s", what, err, diff)
		}
		if err := j.Close(); err != nil {
			t.Errorf("%s: Close: %v", what, err)
		}
	}
	return found
}

func eventsOf(t *testing.T, b []byte) []Event {
	t.Helper()
	rd, err := OpenReader(t.Context(), writeFile(t, b))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rd.Close() }()
	list, err := rd.Events(t.Context(), 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestBitsEverywhere flips bits anywhere in live pages: headers, element
// tables, gaps. Not all of them matter; none may be believed.
func TestBitsEverywhere(t *testing.T) {
	file := smallJournal(t)
	want := eventsOf(t, file)
	pages := live(file)
	pages[0], pages[1] = true, true
	rng := rand.New(rand.NewPCG(1, 2))
	n, found := 0, 0
	for p := range len(file) / pageSize {
		if !pages[p] || bytes.Count(file[p*pageSize:(p+1)*pageSize], []byte{0}) == pageSize {
			continue // in no use, or the inside of the ballast
		}
		for range 12 {
			// Half of them in the header and the first elements.
			at, bit := p*pageSize+rng.IntN(pageSize), rng.IntN(8)
			if rng.IntN(2) == 0 {
				at = p*pageSize + rng.IntN(96)
			}
			b := bytes.Clone(file)
			b[at] ^= 1 << bit
			n++
			if outcome(t, fmt.Sprintf("bit %d of byte %d of page %d", bit, at%pageSize, p), b, want) {
				found++
			}
		}
	}
	t.Logf("%d bits, %d found", n, found)
	if n < 50 || found < n/4 {
		t.Errorf("%d bits flipped, %d found: the test does not reach what it should", n, found)
	}
}

// TestBrokenFiles damages files as disks and people do.
func TestBrokenFiles(t *testing.T) {
	file := smallJournal(t)
	want := eventsOf(t, file)
	rng := rand.New(rand.NewPCG(3, 4))
	garbage := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		return b
	}
	cases := map[string]struct {
		reason string
		file   func() []byte
	}{
		"Empty":        {"a file without a byte", func() []byte { return nil }},
		"OneByte":      {"hardly more", func() []byte { return file[:1] }},
		"MetaOnly":     {"cut after the meta pages", func() []byte { return file[:2*pageSize] }},
		"OddCut":       {"cut in the middle of a page", func() []byte { return file[:5*pageSize+100] }},
		"LastPage":     {"cut by one page", func() []byte { return file[:len(file)-pageSize] }},
		"LastByte":     {"cut by one byte", func() []byte { return file[:len(file)-1] }},
		"Zeroes":       {"all zero", func() []byte { return make([]byte, len(file)) }},
		"ZeroTail":     {"zero from the middle", func() []byte { return append(bytes.Clone(file[:len(file)/2]), make([]byte, len(file)/2)...) }},
		"Garbage":      {"random bytes", func() []byte { return garbage(len(file)) }},
		"GarbageTree":  {"random bytes under good meta pages", func() []byte { return append(bytes.Clone(file[:2*pageSize]), garbage(len(file)-2*pageSize)...) }},
		"Text":         {"something else altogether", func() []byte { return bytes.Repeat([]byte("journal\n"), 4096) }},
		"OneMeta":      {"a meta page of zeroes: bbolt would go back one commit", func() []byte { return append(make([]byte, pageSize), file[pageSize:]...) }},
		"OtherMeta":    {"the other one", func() []byte { return replacePage(file, 1, make([]byte, pageSize)) }},
		"SameMeta":     {"one meta page twice", func() []byte { return replacePage(file, 1, file[:pageSize]) }},
		"SwappedPages": {"pages in each other's place", func() []byte { return swapLive(file) }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if !outcome(t, tc.reason, tc.file(), want) {
				t.Errorf("%s: not found", tc.reason)
			}
		})
	}
	for p := range live(file) {
		if !live(file)[p] {
			continue
		}
		page := file[p*pageSize : (p+1)*pageSize]
		if bytes.Count(page, []byte{0}) == pageSize {
			continue // the inside of the ballast
		}
		for what, with := range map[string][]byte{"zeroes": make([]byte, pageSize), "garbage": garbage(pageSize)} {
			if !outcome(t, fmt.Sprintf("page %d: %s", p, what), replacePage(file, p, with), want) {
				t.Errorf("page %d: %s not found", p, what)
			}
		}
	}
}

func replacePage(file []byte, p int, with []byte) []byte {
	b := bytes.Clone(file)
	copy(b[p*pageSize:(p+1)*pageSize], with)
	return b
}

func swapLive(file []byte) []byte {
	var two []int
	for p := len(file)/pageSize - 1; p > 1 && len(two) < 2; p-- {
		if live(file)[p] && bytes.Count(file[p*pageSize:(p+1)*pageSize], []byte{0}) < pageSize {
			two = append(two, p)
		}
	}
	a, b := bytes.Clone(file[two[0]*pageSize:][:pageSize]), bytes.Clone(file[two[1]*pageSize:][:pageSize])
	return replacePage(replacePage(file, two[0], b), two[1], a)
}

// TestVerifyEnds cancels verification.
func TestVerifyEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Verify(ctx, writeFile(t, smallJournal(t))); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled Verify: %v", err)
	}
}

// FuzzFile gives whole files to everything that opens files.
func FuzzFile(f *testing.F) {
	file := smallJournal(f)
	f.Add(uint32(0), []byte{1})
	f.Add(uint32(3*pageSize+8), []byte{2, 0, 255, 255})
	f.Fuzz(func(t *testing.T, at uint32, with []byte) {
		b := bytes.Clone(file)
		copy(b[int(at)%len(b):], with)
		path := writeFile(t, b)
		if r, err := Verify(t.Context(), path); err != nil && !IsTooNew(err) {
			t.Errorf("%+v, %v", r, err)
		}
	})
}
