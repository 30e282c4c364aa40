package journal

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"
)

// TestStoredBytes pins the format: these bytes are on people's disks.
func TestStoredBytes(t *testing.T) {
	cases := map[string]struct {
		reason string
		ev     Event
		want   string
	}{
		"Minimal": {"journal events have no operation", Event{Time: 1, Epoch: 2, Type: EpochClosed, SV: 1}, `{"ts":1,"e":2,"t":"epoch.closed","v":1}`},
		"Full": {
			"every field, in this order",
			Event{
				Seq: 9, Time: 1700000000000000001, Epoch: 3, Type: StepStarted, SV: 1, Crit: true, Op: testID(5), OpVer: 4, Prev: 8,
				Step: "add", Attempt: 2, Actor: "executor", Build: "v0.1", Data: json.RawMessage(`{"attempt":"x", "new":1}`),
			},
			`{"ts":1700000000000000001,"e":3,"t":"step.started","v":1,"c":true,"op":"00000005-0000-7000-8000-000000000000","ov":4,"pv":8,"s":"add","n":2,"by":"executor","bld":"v0.1","d":{"attempt":"x", "new":1}}`,
		},
		"Quoted": {"text of people", Event{Type: OpFailed, SV: 1, Actor: "person:Jör\"g\n"}, `{"ts":0,"e":0,"t":"op.failed","v":1,"by":"person:Jör\"g\n"}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := appendEvent(nil, &tc.ev)
			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			back, err := decodeEvent(tc.ev.Seq, codecJSON, got)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.ev, back); diff != "" {
				t.Errorf("%s: decoded (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestChain pins the chain's first links.
func TestChain(t *testing.T) {
	sum := sum256([]byte("event"))
	first := link(Hash{}, 1, codecJSON, sum)
	second := link(first, 2, codecJSON, sum)
	for got, want := range map[string]string{
		first.String():  "26d4d176",
		second.String(): "086b8433",
	} {
		if got[:8] != want {
			t.Errorf("link = %s, want %s...", got, want)
		}
	}
	var back Hash
	if err := back.UnmarshalText([]byte(first.String())); err != nil || back != first {
		t.Errorf("hash as text: %v, %v", back, err)
	}
	if back.UnmarshalText([]byte("abc")) == nil || back.UnmarshalText(make([]byte, 64)) == nil {
		t.Error("bad hashes decode")
	}
}

func anyEvent(t *rapid.T) Event {
	types := make([]Type, 0, len(known)+1)
	for _, typ := range known {
		types = append(types, typ)
	}
	ev := Event{
		Seq: Seq(rapid.Uint64Range(1, math.MaxInt64).Draw(t, "seq")), Time: rapid.Int64().Draw(t, "time"),
		Epoch: Epoch(rapid.Uint64Range(0, math.MaxInt64).Draw(t, "epoch")), Type: rapid.SampledFrom(append(types, "op.future")).Draw(t, "type"),
		SV: rapid.IntRange(0, 99).Draw(t, "sv"), Crit: rapid.Bool().Draw(t, "crit"), Step: rapid.String().Draw(t, "step"),
		Attempt: rapid.IntRange(0, 9).Draw(t, "attempt"), Actor: rapid.String().Draw(t, "actor"),
	}
	if ofOperation(ev.Type) && rapid.Bool().Draw(t, "has op") {
		ev.Op = uuid.UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "op"))
		ev.OpVer = rapid.Uint64Range(0, 1<<40).Draw(t, "ver")
		ev.Prev = Seq(rapid.Uint64Range(0, 1<<40).Draw(t, "prev"))
	}
	if rapid.Bool().Draw(t, "has data") {
		data, err := json.Marshal(map[string]string{rapid.String().Draw(t, "key"): rapid.String().Draw(t, "value")})
		if err != nil {
			t.Fatal(err)
		}
		ev.Data = data
	}
	return ev
}

// TestCodecRoundTrip: what is stored comes back, and a glance sees what the
// full decoder sees.
func TestCodecRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ev := anyEvent(t)
		b := appendEvent(nil, &ev)
		if !json.Valid(b) {
			t.Fatalf("not JSON: %s", b)
		}
		back, err := decodeEvent(ev.Seq, codecJSON, b)
		if err != nil {
			t.Fatal(err)
		}
		var want Event // as encoding/json keeps it: text that is no UTF-8 is replaced
		std, err := json.Marshal(ev)
		if err == nil {
			err = json.Unmarshal(std, &want)
		}
		if err != nil {
			t.Fatal(err)
		}
		want.Seq, want.Data = ev.Seq, ev.Data
		if diff := cmp.Diff(want, back); diff != "" {
			t.Fatalf("decoded (-want +got):\n%s", diff)
		}
		g, err := glanceAt(ev.Seq, codecJSON, b)
		if err != nil || g != (glance{epoch: back.Epoch, typ: back.Type, op: back.Op, prev: back.Prev}) {
			t.Fatalf("a glance at %s sees %+v, %v", b, g, err)
		}
	})
}

// TestGlanceAtOtherOrder: the order of fields is no part of the format.
func TestGlanceAtOtherOrder(t *testing.T) {
	b := []byte(`{"d":{"t":"x"},"pv":3,"op":"00000005-0000-7000-8000-000000000000","t":"op.started", "e":4,"ts":1,"v":1}`)
	g, err := glanceAt(4, codecJSON, b)
	if want := (glance{epoch: 4, typ: OpStarted, op: testID(5), prev: 3}); err != nil || g != want {
		t.Errorf("glance = %+v, %v; want %+v", g, err, want)
	}
	if _, err := glanceAt(4, 9, b); !IsCorrupt(err) {
		t.Errorf("unknown codec: %v", err)
	}
}
