package gate

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func frame(t testing.TB, rep Reply) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Encode(&b, rep); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestDecodeSkipsWhatPrecedesTheFrame(t *testing.T) {
	want := Reply{Version: ProtocolVersion, Result: &Result{Stdout: []byte("x")}}
	good := string(frame(t, want))
	cases := map[string]struct{ reason, in string }{
		"Bare":      {"a reply alone", good},
		"Banner":    {"root's bashrc prints", "Welcome!\nYou have mail.\n" + good},
		"NoNewline": {"it prints without a newline at its end", "prompt> " + good},
		"HalfMark":  {"it prints what looks like the start of a mark", "ANTHILL-GATE\nANTHILL-\nAANTHILL-GATE/1 " + good},
		"Binary":    {"it prints bytes of any kind", "\x00\xff\r\n" + good},
		"After":     {"something follows", good + "logout\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Decode(iotest.OneByteReader(strings.NewReader(tc.in)))
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, d)
			}
		})
	}
}

func TestDecodeNoticesEveryCutAndFlip(t *testing.T) {
	full := frame(t, Reply{Version: ProtocolVersion, Error: "some text", Reason: ReasonState})
	end := len(full) - 1 // the newline after the body is a courtesy
	for n := range end {
		_, err := Decode(bytes.NewReader(full[:n]))
		if !errors.Is(err, ErrNoFrame) && !errors.Is(err, ErrCutFrame) {
			t.Fatalf("cut after %d of %d bytes: %v", n, end, err)
		}
	}
	for i := 1; i < end; i++ {
		b := bytes.Clone(full)
		b[i] ^= 0x04
		if got, err := Decode(bytes.NewReader(b)); err == nil {
			t.Fatalf("flipped byte %d (%q): decoded %+v", i, full[i], got)
		}
	}
}

func TestDecodeIsBounded(t *testing.T) {
	endless := io.MultiReader(strings.NewReader(strings.Repeat("z\n", junkBytesMax)), iotest.ErrReader(errors.New("read too far")))
	if _, err := Decode(endless); !errors.Is(err, ErrNoFrame) || strings.Contains(err.Error(), "too far") {
		t.Errorf("endless junk: %v", err)
	}
	huge := frameMark + "ffffffff 00000000\n"
	if _, err := Decode(strings.NewReader(huge)); !errors.Is(err, ErrCutFrame) {
		t.Errorf("a length of 4 GiB: %v", err)
	}
	rep, err := Decode(bytes.NewReader(frame(t, Reply{Result: &Result{Stdout: make([]byte, ReplyBytesMax)}})))
	if err != nil || rep.Reason != ReasonState {
		t.Errorf("a reply that is too large: %+v, %v", rep.Reason, err)
	}
}

func TestDecodeAnyJunk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		junk := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "junk")
		want := Reply{Version: ProtocolVersion, Exit: rapid.IntRange(0, 255).Draw(t, "exit"), Error: rapid.String().Draw(t, "text")}
		var b bytes.Buffer
		b.Write(junk)
		if err := Encode(&b, want); err != nil {
			t.Fatal(err)
		}
		got, err := Decode(&b)
		if err != nil {
			t.Fatal(err)
		}
		want.Error = strings.ToValidUTF8(want.Error, "\ufffd")
		if d := cmp.Diff(want, got); d != "" {
			t.Fatal(d)
		}
	})
}
