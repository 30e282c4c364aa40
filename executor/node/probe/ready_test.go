package probe

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// glusterd answers one call with reply, which gets the call's id.
func glusterd(t *testing.T, reply func(xid uint32) []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		in := make([]byte, len(call(0)))
		if _, err := io.ReadFull(conn, in); err != nil {
			return
		}
		if b := reply(binary.BigEndian.Uint32(in[4:])); b != nil {
			_, _ = conn.Write(b)
			return
		}
		_, _ = conn.Read(in) // hangs until the caller has had enough
	}()
	t.Cleanup(func() { ln.Close(); <-done })
	return path
}

func words(ws ...uint32) []byte {
	var b []byte
	for _, w := range ws {
		b = binary.BigEndian.AppendUint32(b, w)
	}
	return b
}

func TestReady(t *testing.T) {
	cases := map[string]struct {
		reason string
		reply  func(xid uint32) []byte
		wrong  string
	}{
		"Answers":  {"it answers", func(x uint32) []byte { return words(lastFragment|40, x, 1, 0, 0, 0, 0, 1, 2, 3, 4) }, ""},
		"Refuses":  {"it does not know the question", func(x uint32) []byte { return words(lastFragment|24, x, 1, 0, 0, 0, 3) }, "status 3"},
		"Denies":   {"it does not let us ask", func(x uint32) []byte { return words(lastFragment|24, x, 1, 1, 1, 0, 0) }, "accept"},
		"Other":    {"an answer to somebody else is none", func(x uint32) []byte { return words(lastFragment|24, x+1, 1, 0, 0, 0, 0) }, "none"},
		"Nonsense": {"nor is something else", func(uint32) []byte { return []byte(strings.Repeat("HTTP/1.1 400", 9)) }, "none"},
		"Cut":      {"nor is half of one", func(x uint32) []byte { return words(lastFragment|24, x) }, "EOF"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := Ready(t.Context(), glusterd(t, tc.reply))
			if (err == nil) != (tc.wrong == "") || err != nil && !strings.Contains(err.Error(), tc.wrong) {
				t.Errorf("%s: %v, want %q", tc.reason, err, tc.wrong)
			}
		})
	}
	if err := Ready(t.Context(), "/does/not/exist"); err == nil {
		t.Error("nobody listens: no error")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := Ready(ctx, glusterd(t, func(uint32) []byte { return nil })); err == nil {
		t.Error("it hangs: no error")
	}
}
