package option

import (
	"slices"
	"strconv"
	"strings"
)

// An entry is one option's row.
type entry struct {
	class  Class
	why    string            // Never, or a value that rule refuses: why
	accept string            // what is accepted instead
	rule   func(string) bool // of the values; nil: any
}

// A group is options of one kind.
type group struct {
	entry
	keys string // separated by blanks
}

var tables = map[Scope]map[string]entry{Volume: index(volumeGroups), Cluster: index(clusterGroups)}

func index(groups []group) map[string]entry {
	m := map[string]entry{}
	for _, g := range groups {
		for k := range strings.FieldsSeq(g.keys) {
			if _, twice := m[k]; twice {
				panic("option table: " + k + " is there twice")
			}
			m[k] = g.entry
		}
	}
	return m
}

// Rules of values.

// isOn accepts gluster's words for true.
func isOn(v string) bool {
	switch strings.ToLower(v) {
	case "1", "on", "yes", "true", "enable":
		return true
	}
	return false
}

func oneOf(words ...string) func(string) bool {
	return func(v string) bool { return slices.Contains(words, v) }
}

// atLeast accepts whole numbers, with a percent sign or not.
func atLeast(least int) func(string) bool {
	return func(v string) bool {
		n, err := strconv.Atoi(strings.TrimSuffix(v, "%"))
		return err == nil && n >= least
	}
}

var clusterGroups = []group{
	{entry{class: Free}, `
		cluster.brick-multiplex cluster.max-bricks-per-process cluster.brick-graceful-cleanup
		glusterd.vol_count_per_thread cluster.localtime-logging cluster.daemon-log-level`},
	{entry{class: Free, rule: atLeast(51), why: "less than a majority of servers would count as quorum", accept: "51% to 100%"}, `
		cluster.server-quorum-ratio`},
	{entry{class: Never, why: "it changes with an upgrade and cannot be taken back"}, `
		cluster.op-version cluster.max-op-version`},
	{entry{class: Never, why: "it makes a volume of its own behind Anthill's back"}, `
		cluster.enable-shared-storage`},
}

// prefixes are families of volume options.
var prefixes = []struct {
	prefix string
	entry
}{
	{"user.anthill.", entry{class: Never, why: "Anthill keeps its own marks there"}},
	{"user.", entry{class: Free}},
	{"debug.", entry{class: Never, why: "it injects faults or traces on the data path"}},
	{"delay-gen.", entry{class: Never, why: "it injects faults or traces on the data path"}},
	{"nfs.", entry{class: Never, why: "gluster's own NFS server is gone"}},
}
