package cluster

import (
	"errors"
	"testing"

	"github.com/gluster/anthill/test/image"
)

func TestConfigDefaults(t *testing.T) {
	c, err := Config{}.withDefaults()
	must(t, err)
	if c.Nodes != 3 || c.MemoryMiB != 3072 || len(c.Suites) != 1 || c.Suites[0] != image.Gluster10 {
		t.Errorf("defaults: %+v", c)
	}
	for name, nodes := range map[string]int{"Negative": -1, "TooMany": NodesMax + 1} {
		if _, err := (Config{Nodes: nodes}).withDefaults(); !errors.Is(err, errTooMany) {
			t.Errorf("%s: %v, want %v", name, err, errTooMany)
		}
	}
}

// TestClusterAndServersAreApart: both may run from one checkout, under one name.
func TestClusterAndServersAreApart(t *testing.T) {
	c, err := Config{Instance: "x"}.withDefaults()
	must(t, err)
	ours, err := c.local().Hostname("n")
	must(t, err)
	under := c.local()
	under.Instance = c.Instance
	theirs, err := under.Hostname("n")
	must(t, err)
	if ours == theirs {
		t.Errorf("a cluster and servers are both called %s", ours)
	}
}
