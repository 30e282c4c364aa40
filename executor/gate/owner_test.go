package gate

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

func TestClaim(t *testing.T) {
	held := &Owner{Pool: poolA, Instance: "op-1", Fence: 5}
	cases := map[string]struct {
		reason string
		before *Owner
		req    Request
		exit   int
		why    Reason
		after  Owner
	}{
		"Unclaimed":      {"anybody's", nil, Request{Fence: 3}, ExitOK, "", Owner{poolA, "op-1", 3}},
		"Same":           {"again", held, Request{Fence: 5}, ExitOK, "", *held},
		"Higher":         {"a new epoch", held, Request{Fence: 6}, ExitOK, "", Owner{poolA, "op-1", 6}},
		"Lower":          {"an old epoch", held, Request{Fence: 4}, ExitFenced, ReasonLowerFence, *held},
		"OtherPool":      {"somebody else's server", held, Request{Pool: poolB, Fence: 9}, ExitFenced, ReasonForeignPool, *held},
		"OtherPoolTake":  {"take-over is of an instance, never of a pool", held, Request{Pool: poolB, Instance: "op-2", TakeOver: "op-1", Fence: 9}, ExitFenced, ReasonForeignPool, *held},
		"OtherInstance":  {"another operator", held, Request{Instance: "op-2", Fence: 9}, ExitFenced, ReasonOtherInstance, *held},
		"TakeOver":       {"a person allowed it", held, Request{Instance: "op-2", TakeOver: "op-1", Fence: 6}, ExitOK, "", Owner{poolA, "op-2", 6}},
		"TakeOverOther":  {"for another instance", held, Request{Instance: "op-2", TakeOver: "op-3", Fence: 6}, ExitFenced, ReasonOtherInstance, *held},
		"TakeOverEqual":  {"the old operator would not be fenced", held, Request{Instance: "op-2", TakeOver: "op-1", Fence: 5}, ExitFenced, ReasonLowerFence, *held},
		"TakeOverOwn":    {"naming the owner changes nothing for itself", held, Request{TakeOver: "op-1", Fence: 5}, ExitOK, "", *held},
		"FreshUnclaimed": {"an empty glusterd", nil, Request{Fresh: true, Fence: 3}, ExitOK, "", Owner{poolA, "op-1", 3}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if tc.before != nil {
				w.must(Request{Verb: Claim, Pool: tc.before.Pool, Instance: tc.before.Instance, Fence: tc.before.Fence})
			}
			tc.req.Verb = Claim
			rep := w.do(tc.req)
			if rep.Exit != tc.exit || rep.Reason != tc.why {
				t.Fatalf("%s: exit %d, reason %q (%s); want %d, %q", tc.reason, rep.Exit, rep.Reason, rep.Error, tc.exit, tc.why)
			}
			if rep.Owner == nil || *rep.Owner != tc.after {
				t.Errorf("%s: reply names owner %+v, want %+v", tc.reason, rep.Owner, tc.after)
			}
			if got := w.must(Request{Verb: Hello}).Owner; got == nil || *got != tc.after {
				t.Errorf("%s: recorded owner %+v, want %+v", tc.reason, got, tc.after)
			}
		})
	}
}

func TestClaimFreshRefusesAServerInUse(t *testing.T) {
	cases := map[string]struct{ reason, path string }{
		"Peer":        {"a member of a pool", "peers/33333333-3333-4333-8333-333333333333"},
		"PeerProbed":  {"a probe under way is named by host", "peers/n2"},
		"Volume":      {"it has a volume", "vols/v1/info"},
		"VolumeGhost": {"half a volume counts (LAB-17)", "vols/v1/bricks/n1:-b"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write(filepath.Join(w.o.GlusterdDir, tc.path), "x=y\n")
			w.refused(Request{Verb: Claim, Fresh: true}, ExitFailed, ReasonNotFresh)
			if got := w.must(Request{Verb: Hello}).Owner; got != nil {
				t.Errorf("%s: recorded owner %+v", tc.reason, got)
			}
			w.must(Request{Verb: Claim}) // adoption does not ask for it
		})
	}
}

// A write that tears at any point leaves the owner before it or the new one.
func TestOwnerSurvivesATornWrite(t *testing.T) {
	w := newWorld(t).claim()
	path := filepath.Join(w.o.StateDir, "owner")
	for fence := uint64(2); fence <= 3; fence++ { // once for each slot
		old, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		w.must(Request{Verb: Claim, Fence: fence})
		now, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		slot := int(fence-1) % 2 * ownerSlotSize
		if !bytes.Equal(old[ownerSlotSize-slot:][:ownerSlotSize], now[ownerSlotSize-slot:][:ownerSlotSize]) {
			t.Fatal("a write touched the slot of the newest record")
		}
		if len(old) != 2*ownerSlotSize || len(now) != len(old) {
			t.Fatalf("file of %d, then %d bytes", len(old), len(now))
		}
		for n := range ownerSlotSize + 1 {
			torn := bytes.Clone(old)
			copy(torn[slot:slot+n], now[slot:slot+n])
			o, _, ok := newestOwner(torn)
			if !ok {
				t.Fatalf("torn after %d bytes: no owner", n)
			}
			if o.Fence != fence-1 && (o.Fence != fence || n < ownerHeader) {
				t.Fatalf("torn after %d bytes: %+v", n, o)
			}
		}
		if o, _, _ := readOwner(path); o.Fence != fence {
			t.Fatalf("the whole write: %+v", o)
		}
	}
}

// Whatever is torn in between, the fence never falls below an acknowledged one
// and the next write succeeds.
func TestOwnerUnderTornWrites(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		g := &gate{Options{StateDir: dir}}
		path := g.ownerPath()
		_ = os.Remove(path)
		var acked uint64
		for fence := uint64(1); fence <= 12; fence++ {
			before, _ := os.ReadFile(path)
			if err := g.setOwner(Owner{Pool: poolA, Instance: "op", Fence: fence}); err != nil {
				t.Fatal(err)
			}
			last := acked
			acked = fence
			if before != nil && rapid.Bool().Draw(t, "torn") {
				after, _ := os.ReadFile(path)
				torn := bytes.Clone(before)
				// Sectors land in any order.
				for s := 0; s < len(torn); s += 512 {
					if rapid.Bool().Draw(t, "sector") {
						copy(torn[s:s+512], after[s:s+512])
					}
				}
				if err := os.WriteFile(path, torn, 0o600); err != nil {
					t.Fatal(err)
				}
				acked = last
			}
			o, err := g.owner()
			if err != nil || o.Fence < acked || o.Fence > fence {
				t.Fatalf("owner %+v, %v; acknowledged %d, newest %d", o, err, acked, fence)
			}
		}
	})
}

func TestOwnerDamagedIsNeverUnclaimed(t *testing.T) {
	cases := map[string]struct {
		reason string
		bytes  []byte
	}{
		"Empty":  {"truncated to nothing", nil},
		"Zeros":  {"both slots lost", make([]byte, 2*ownerSlotSize)},
		"Short":  {"half a slot", []byte(ownerMagic)},
		"Random": {"something else", bytes.Repeat([]byte("x"), 2*ownerSlotSize)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t).claim()
			w.write(filepath.Join(w.o.StateDir, "owner"), string(tc.bytes))
			w.refused(Request{Verb: Claim, Fence: 9}, ExitFailed, ReasonState)
			w.refused(runReq("a1", "ok"), ExitFailed, ReasonState)
			w.refused(Request{Verb: Hello}, ExitFailed, ReasonState)
			if _, _, err := readOwner(filepath.Join(w.o.StateDir, "owner")); !errors.Is(err, errOwnerDamaged) {
				t.Errorf("%s: %v", tc.reason, err)
			}
			if len(w.runs()) != 0 {
				t.Errorf("%s: something ran: %v", tc.reason, w.runs())
			}
		})
	}
}

func TestClaimOnAFullDisk(t *testing.T) {
	needRoot(t)
	w := newWorld(t)
	mountTmpfs(t, w.o.StateDir, "size=64k")
	w.claim()
	fill(t, w.o.StateDir)
	w.must(Request{Verb: Claim, Fence: 2})
	w.must(Request{Verb: Claim, Fence: 3})
	w.refused(Request{Verb: Claim, Fence: 2}, ExitFenced, ReasonLowerFence)
}
