package gate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

func TestServeRefusesWhatIsNoRequest(t *testing.T) {
	cases := map[string]struct {
		reason, in string
		want       Reason
	}{
		"Empty":     {"nothing arrives", "", ReasonUsage},
		"Garbage":   {"no JSON", "GET / HTTP/1.1\r\n", ReasonUsage},
		"Cut":       {"half a request", `{"version":1,"verb":"hel`, ReasonUsage},
		"Version":   {"a newer protocol, with fields of its own", `{"version":2,"verb":"hello","novel":true}`, ReasonVersion},
		"NoVersion": {"no version", `{"verb":"hello"}`, ReasonVersion},
		"Field":     {"a field this gate does not know could matter", `{"version":1,"verb":"hello","novel":true}`, ReasonUsage},
		"Verb":      {"a verb nobody knows", `{"version":1,"verb":"format"}`, ReasonUsage},
		"Install":   {"a gate does not install itself", `{"version":1,"verb":"install"}`, ReasonUsage},
		"Type":      {"a wrong type", `{"version":1,"verb":"run","argv":"gluster"}`, ReasonUsage},
		"Huge":      {"more than a request may have", `{"version":1,"verb":"hello","pool":"` + strings.Repeat("a", RequestBytesMax) + `"}`, ReasonUsage},
		"NoAttempt": {"a mutation has a name", `{"version":1,"verb":"run","pool":"p","instance":"i","fence":1}`, ReasonUsage},
		"NoFence":   {"and a fence", `{"version":1,"verb":"run","pool":"p","instance":"i","attempt":"a"}`, ReasonUsage},
		"AttemptUp": {"an attempt is a file name", `{"version":1,"verb":"receipt","attempt":"../owner"}`, ReasonUsage},
		"Deadline":  {"no endless child", `{"version":1,"verb":"read","argv":["gluster","--version"],"deadline":99999999999999}`, ReasonUsage},
		"Dirs":      {"directories are absolute", `{"version":1,"verb":"observe","dirs":["b1"]}`, ReasonUsage},
		"DirsDots":  {"and clean", `{"version":1,"verb":"observe","dirs":["/b/../etc"]}`, ReasonUsage},
		"BrickUp":   {"a volume is one element", `{"version":1,"verb":"inspect","brick":{"root":"/b","volume":".."}}`, ReasonUsage},
		"BrickNone": {"a brick verb needs a brick", `{"version":1,"verb":"inspect"}`, ReasonUsage},
		"LeafUp":    {"a leaf is one element", `{"version":1,"verb":"inspect","brick":{"root":"/b","volume":"v","leaf":"a/b"}}`, ReasonUsage},
	}
	w := newWorld(t)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			code := Serve(t.Context(), strings.NewReader(tc.in), &out, w.o)
			rep, err := Decode(&out)
			if err != nil {
				t.Fatal(err)
			}
			if code != ExitUsage || rep.Exit != ExitUsage || rep.Reason != tc.want || rep.Error == "" {
				t.Errorf("%s: exit %d, reply %d %q %q; want %d %q", tc.reason, code, rep.Exit, rep.Reason, rep.Error, ExitUsage, tc.want)
			}
		})
	}
	if _, err := os.Stat(w.o.StateDir); err == nil {
		t.Error("a refused request left a state folder")
	}
}

func TestServeAnswersAClientThatKeepsItsEndOpen(t *testing.T) {
	w := newWorld(t)
	r, wr := io.Pipe()
	go func() { _, _ = wr.Write([]byte(`{"version":1,"verb":"hello"}`)) }()
	defer wr.Close()
	var out bytes.Buffer
	if code := Serve(t.Context(), r, &out, w.o); code != ExitOK {
		t.Fatalf("exit %d: %s", code, out.String())
	}
}

func TestServeGivesUpOnAClientThatSaysNothing(t *testing.T) {
	w := newWorld(t)
	w.o.RequestWait = 20 * time.Millisecond
	r, wr := io.Pipe()
	defer wr.Close()
	if code := Serve(t.Context(), r, io.Discard, w.o); code != ExitUsage {
		t.Fatalf("exit %d", code)
	}
}

func TestHello(t *testing.T) {
	w := newWorld(t)
	b, err := os.ReadFile(w.o.Exe)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b)
	rep := w.must(Request{Verb: Hello})
	if rep.Owner != nil || rep.Digest != hex.EncodeToString(sum[:]) {
		t.Errorf("unclaimed: owner %+v, digest %s", rep.Owner, rep.Digest)
	}
	w.claim()
	if rep = w.must(Request{Verb: Hello, Fence: 9}); rep.Owner == nil || *rep.Owner != (Owner{Pool: poolA, Instance: "op-1", Fence: 1}) {
		t.Errorf("claimed: owner %+v", rep.Owner)
	}
}
