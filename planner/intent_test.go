package planner

import (
	"testing"
)

// Intents outlive releases: a tombstone in a journal must still be found by the
// planner of the next one. These are not to be changed.
func TestIntentsAreStable(t *testing.T) {
	w := newWorld()
	for _, n := range []string{"n1", "n2", "n3"} {
		w.addNode(n, "", "/bricks/1")
	}
	want := map[string]string{
		"bootstrap-pool pool":    "53ddef5e6dc51f1534cfcba588749186a5484129c80517f767e15aa18d3bd79f",
		"prepare-node node/n2":   "383bcb59c5f3d3c72e7f47d900f0d148868f1d5418f13666094d3d7e36b447ee",
		"join-node node/n2":      "bf743c6cf0edbb495db4f534bdf3a4fa79b98e5842b1fe39bdcc41b3f9ac7ee2",
		"create-volume volume/v": "70c0d5892f1ed37251a70f0a5574f11b44c7ce00bf6bbc263ed27d117aa738f5",
		"add-brick volume/v":     "6fb32921d945e44136faac24698d5acdfd47b69fdd110ea0b0122ede108113eb",
		"set-options volume/v":   "d235abe42d019e0e3780625469fcc69b264f47c556c53d0c64c54a04e4bb5f0b",
		"set-options pool":       "9299cad471cc7a6c3bd7105c4b5ec9a090c8cd727db471d57debb1d96baa18e6",
		"install-gate node/n1":   "907fec81fc9b2edc4f30c046559ba582f421fc91155db1357393b82fb0009b38",
		"delete-volume volume/v": "041dbabd9fb6ac924e32e244b3d237275be6167b90b2ee8d053a92f31bd9abf9",
		"release-node node/n4":   "f3dbecddbca75818758e22791591b9d48135ff35c2dc2c1b0543dcd7007d0358",
	}
	got := map[string]string{}
	round := func() {
		for range 10 {
			d := Plan(w.snapshot())
			for _, p := range d.Plan {
				got[p.Key] = p.Plan.Intent
			}
			for _, id := range w.obey(d) {
				if err := w.finish(id); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	run := func(cmd func(*world, args) (string, error), line ...string) {
		t.Helper()
		if _, err := cmd(w, arguments(line...)); err != nil {
			t.Fatal(err)
		}
	}
	round()
	run(doVolume, "v", "replica=3", "sets=1")
	round()
	run(doVolume, "v", "sets=2", "options=performance.cache-size:64MB")
	run(doCluster, "options=cluster.brick-multiplex:on")
	round()
	run(doOperator, "gate=gate-2")
	round()
	run(doDelete, "volume/v", "confirm=v")
	round()
	run(doNodes, "n4")
	d := Plan(w.snapshot())
	id := w.obey(d)[0]
	if err := w.finish(id); err != nil {
		t.Fatal(err)
	}
	run(doDelete, "node/n4")
	round()
	for key, intent := range want {
		if got[key] != intent {
			t.Errorf("%s: the intent is %q now, was %q", key, got[key], intent)
		}
	}
}
