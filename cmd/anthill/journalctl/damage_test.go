package journalctl

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/gluster/anthill/cmd/anthill/cli"
	"github.com/gluster/anthill/journal"
)

// reads are the command lines a damaged file has to survive.
var reads = [][]string{
	{"ls", "--all", "-o", "wide"},
	{"ls", "-o", "json"},
	{"show", opID(6).String(), "--events"},
	{"show", "019c5a06", "-o", "json"},
	{"events"},
	{"events", "--op", opID(8).String(), "-o", "yaml"},
	{"tail", "-n", "5"},
	{"stats"},
}

// survives runs every reading command on the file and returns verify's code.
func survives(t *testing.T, name, path string) cli.Code {
	t.Helper()
	run := func(args ...string) cli.Code {
		got := anthill(t.Context(), scriptEnv(path), append(args, "--file", path)...)
		switch got.code {
		case cli.OK, cli.NotFound, cli.Damaged:
		case cli.Failed:
			// A flip may claim a newer format; nothing else fails like this.
			if !strings.Contains(got.err, "newer release") {
				t.Errorf("%s: %v: exit %d: %s", name, args, got.code, got.err)
			}
		default:
			t.Errorf("%s: %v: exit %d: %s", name, args, got.code, got.err)
		}
		if strings.Contains(got.err, "internal error") || strings.Count(got.err, "anthill: ") > 1 {
			t.Errorf("%s: %v: %s", name, args, got.err)
		}
		if (got.code == cli.OK) == strings.Contains(got.err, "anthill: ") {
			t.Errorf("%s: %v: exit %d does not go with %q", name, args, got.code, got.err)
		}
		return got.code
	}
	for _, args := range reads {
		run(args...)
	}
	return run("verify")
}

func TestDamagedFiles(t *testing.T) {
	s := allStates(t)
	intact, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "journal.db")
	try := func(name string, b []byte) cli.Code {
		t.Helper()
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return survives(t, name, path)
	}
	if code := try("intact", intact); code != cli.OK {
		t.Fatalf("the script's own journal: exit %d", code)
	}
	const page = 4096
	for _, cut := range []int{0, 1, page / 2, page, page + 1, 2 * page, 3*page - 1, 4 * page, 9 * page} {
		if code := try(fmt.Sprintf("cut to %d bytes", cut), intact[:cut]); code != cli.Damaged {
			t.Errorf("cut to %d of %d bytes: verify says %d, want %d", cut, len(intact), code, cli.Damaged)
		}
	}
	// Most of the file is space kept for bad times: damage goes where there is
	// something.
	var used []int
	for n := 0; n < len(intact); n += page {
		if bytes.ContainsFunc(intact[n:min(n+page, len(intact))], func(r rune) bool { return r != 0 }) {
			used = append(used, n)
		}
	}
	found := 0
	for _, n := range used[:min(len(used), 40)] {
		b := append([]byte(nil), intact...)
		clear(b[n:min(n+page, len(b))])
		if try(fmt.Sprintf("page %d of zeros", n/page), b) == cli.Damaged {
			found++
		}
	}
	if found == 0 {
		t.Errorf("verify finds none of the pages of zeros")
	}
	rnd := rand.New(rand.NewPCG(2026, 11))
	found = 0
	for i := range 60 {
		b := append([]byte(nil), intact...)
		for range 1 + rnd.IntN(4) {
			b[used[rnd.IntN(len(used))]+rnd.IntN(page)] ^= 1 << rnd.IntN(8)
		}
		if try(fmt.Sprintf("flips %d", i), b) == cli.Damaged {
			found++
		}
	}
	if found == 0 {
		t.Errorf("verify finds none of the flips")
	}
	for i := range 10 {
		b := make([]byte, 2*page+rnd.IntN(16*page))
		for k := range b {
			b[k] = byte(rnd.Uint32())
		}
		if i%2 == 0 {
			copy(b, intact[:min(len(b), 2*page)]) // good meta pages, nonsense behind them
		}
		if code := try(fmt.Sprintf("noise %d", i), b); code != cli.Damaged {
			t.Errorf("noise %d: verify says %d, want %d", i, code, cli.Damaged)
		}
	}
}

func TestStrangeFiles(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	newer := newScript(t)
	newer.close()
	claimNewer(t, newer.path)
	cases := map[string]struct {
		reason string
		path   string
		code   cli.Code
		err    string
	}{
		"Missing":     {reason: "A file that is not there is not a damaged one.", path: filepath.Join(dir, "none"), code: cli.Unavailable, err: "no"},
		"Folder":      {reason: "A folder is a mistyped name.", path: dir, code: cli.Usage, err: "not a regular file"},
		"Pipe":        {reason: "A pipe must not be waited for.", path: fifo, code: cli.Usage, err: "not a regular file"},
		"NewerFormat": {reason: "What a newer release wrote is not damage, and not read.", path: newer.path, code: cli.Failed, err: "newer release"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, args := range append([][]string{{"verify"}}, reads...) {
				got := anthill(t.Context(), scriptEnv(tc.path), append(args, "--file", tc.path)...)
				if got.code != tc.code || !strings.Contains(got.err, tc.err) || strings.Count(got.err, "\n") != 1 {
					t.Errorf("%s %v: got exit %d, %q", tc.reason, args, got.code, got.err)
				}
			}
		})
	}
}

// claimNewer makes a journal say that it takes a newer release to read it.
func claimNewer(t *testing.T, path string) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, &bolt.Options{NoFreelistSync: true, PageSize: 4096})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		for _, key := range []string{"format", "minReader", "minWriter"} {
			v := binary.BigEndian.AppendUint32(nil, 99)
			crc := crc32.Checksum(append([]byte(key), v...), crc32.MakeTable(crc32.Castagnoli))
			if err := tx.Bucket([]byte("meta")).Put([]byte(key), binary.BigEndian.AppendUint32(v, crc)); err != nil {
				return err
			}
		}
		return nil
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestEmptyJournal(t *testing.T) {
	s := newScript(t)
	s.close()
	for _, args := range append([][]string{{"verify"}}, reads...) {
		got := anthill(t.Context(), scriptEnv(s.path), args...)
		want := cli.OK
		if args[0] == "show" || (args[0] == "events" && len(args) > 1) {
			want = cli.NotFound
		}
		if got.code != want {
			t.Errorf("%v: got exit %d, want %d: %s", args, got.code, want, got.err)
		}
	}
}

func TestHugeOperation(t *testing.T) {
	s := newScript(t)
	s.add(s.plan(1, "add-brick", "volume/v1", nil), s.op(journal.OpStarted, 1, nil), s.step(journal.StepStarted, 1, "guard", 1, journal.Started{AttemptID: "a"}))
	const batches, each = 10, 1000
	for b := range batches {
		var events []journal.Event
		for i := range each {
			events = append(events, s.step(journal.StepProgress, 1, "guard", 1, journal.Progress{Message: fmt.Sprintf("file %d", b*each+i)}))
		}
		s.add(events...)
	}
	defer s.close()
	defer s.serve(nil)()
	got := anthill(t.Context(), scriptEnv(s.path), "show", "019c5a01", "--events", "--no-headers")
	if n := strings.Count(got.out, "step.progress"); got.code != cli.OK || n != batches*each {
		t.Errorf("show: got exit %d and %d of %d events: %s", got.code, n, batches*each, got.err)
	}
	got = anthill(t.Context(), scriptEnv(s.path), "events", "--type", "step.progress", "-o", "name")
	if n := strings.Count(got.out, "\n"); got.code != cli.OK || n != batches*each {
		t.Errorf("events: got exit %d and %d of %d events: %s", got.code, n, batches*each, got.err)
	}
	got = anthill(t.Context(), scriptEnv(s.path), "tail", "-n", "2500", "--type", "step.*", "-o", "name")
	if lines := strings.Fields(got.out); got.code != cli.OK || len(lines) != 2500 || lines[2499] != fmt.Sprint(s.j.Head().Seq) {
		t.Errorf("tail: got exit %d and %d events, want the last 2500: %s", got.code, len(lines), got.err)
	}
}
