package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gluster/anthill/apis/v1alpha1"
	"github.com/gluster/anthill/planner/option"
	"github.com/gluster/anthill/test/local"
	"github.com/gluster/anthill/test/rig"
)

type options = map[string]v1alpha1.OptionValue

// dangerous are values that the table refuses although it knows the option as
// harmless with others.
var dangerous = options{
	"cluster.quorum-type": "none", "cluster.self-heal-daemon": "off", "cluster.disperse-self-heal-daemon": "off",
	"cluster.metadata-self-heal": "off", "cluster.data-self-heal": "off", "cluster.entry-self-heal": "off",
	"cluster.entry-change-log": "off", "cluster.data-change-log": "off", "cluster.metadata-change-log": "off",
	"cluster.ensure-durability": "off", "cluster.favorite-child-policy": "mtime", "cluster.heal-timeout": "1",
	"network.ping-timeout": "0", "storage.health-check-interval": "0", "storage.health-check-timeout": "0",
	"storage.reserve": "0", "nfs.disable": "off",
	"debug.trace": "on", "delay-gen.enable": "on", "nfs.port": "2049", "no.such-option": "1",
}

// refusedRows are all rows of the table of volume options that must not be
// carried out on a volume with data, each with a value that it does not have.
func refusedRows(has map[string]string) options {
	out := maps.Clone(dangerous)
	for _, key := range option.Keys(option.Volume) {
		class := option.ClassOf(option.Volume, key)
		switch {
		case class != option.Never && class != option.OnlyEmpty:
		case has[key] == "on":
			out[key] = "off"
		default:
			out[key] = "on"
		}
	}
	return out
}

// namedAtOnce is how many refused options fit into a condition's message.
const namedAtOnce = 5

// S11: what the table calls dangerous is refused on a volume that holds data.
// The condition names each option, gluster is not told of it, and what else is
// declared is done.
func TestDangerousOptionsAreRefused(t *testing.T) {
	r := begin(t)
	p := base(t, r)
	v := p.get(t, r, volumeName)
	fill(t, r, v)
	one := p.servers(r)[0]
	was := volumes(t, one)[v.Name]
	commands, err := rig.AllChanges(p.servers(r)...)
	must(t, err)

	rows := refusedRows(optionsOf(t, one, v.Name))
	chunks := 0
	for keys := range slices.Chunk(slices.Sorted(maps.Keys(rows)), namedAtOnce) {
		patch(t, r, v, func(v *v1alpha1.GlusterVolume) {
			v.Spec.Options = options{}
			for _, k := range keys {
				v.Spec.Options[k] = rows[k]
			}
		})
		parts := make([]string, len(keys))
		for i, k := range keys {
			parts[i] = fmt.Sprintf("%q", k)
		}
		condition(t, r, v, v1alpha1.ConditionSpecAccepted, metav1.ConditionFalse, v1alpha1.ReasonOptionRefused, parts...)
		chunks++
	}
	t.Logf("%d options refused in %d changes", len(rows), chunks)
	now, err := rig.AllChanges(p.servers(r)...)
	must(t, err)
	if diff := cmp.Diff(commands, now); diff != "" {
		t.Errorf("commands given for refused options (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(was, volumes(t, one)[v.Name]); diff != "" {
		t.Errorf("the volume changed (-before +after):\n%s", diff)
	}

	// Refused and free ones together: the free ones are applied.
	patch(t, r, v, func(v *v1alpha1.GlusterVolume) {
		v.Spec.Options = options{"features.shard": "on", "performance.cache-size": "64MB", "performance.cache-refresh-timeout": "2"}
	})
	condition(t, r, v, v1alpha1.ConditionSpecAccepted, metav1.ConditionFalse, v1alpha1.ReasonOptionRefused, "features.shard")
	awaitOptions(t, p.servers(r), v.Name, func(o map[string]string) string {
		return differs(o["performance.cache-size"]+" "+o["performance.cache-refresh-timeout"]+" "+o["features.shard"], "64MB 2 ")
	})
	must(t, r.AwaitConverged(t.Context(), slow, v))

	// One changed, the other no longer declared: reset, since it was ours.
	patch(t, r, v, func(v *v1alpha1.GlusterVolume) { v.Spec.Options = options{"performance.cache-refresh-timeout": "3"} })
	awaitOptions(t, p.servers(r), v.Name, func(o map[string]string) string {
		return differs(o["performance.cache-size"]+" "+o["performance.cache-refresh-timeout"], " 3")
	})
	patch(t, r, v, func(v *v1alpha1.GlusterVolume) { v.Spec.Options = nil })
	condition(t, r, v, v1alpha1.ConditionSpecAccepted, metav1.ConditionTrue, "")
	awaitOptions(t, p.servers(r), v.Name, func(o map[string]string) string {
		return differs(o["performance.cache-refresh-timeout"], "")
	})
	must(t, r.AwaitConverged(t.Context(), slow, v))
	if diff := cmp.Diff(was, volumes(t, one)[v.Name]); diff != "" {
		t.Errorf("the volume is not what it was before (-before +after):\n%s", diff)
	}
}

// On a volume that does not exist yet, options that need an empty one are set
// before it is started.
func TestOptionsThatNeedAnEmptyVolume(t *testing.T) {
	r := begin(t)
	p := base(t, r)
	v := rig.Replicated(p.ns, clusterName, "sharded", 1)
	v.Spec.Options = options{"features.shard": "on", "features.shard-block-size": "4MB", "user.team": "blue", "cluster.self-heal-daemon": "off"}
	must(t, r.Client.Create(t.Context(), v))
	condition(t, r, v, v1alpha1.ConditionSpecAccepted, metav1.ConditionFalse, v1alpha1.ReasonOptionRefused, "cluster.self-heal-daemon")
	must(t, r.AwaitConverged(t.Context(), slow, v))
	for _, s := range p.servers(r) {
		o := optionsOf(t, s, v.Name)
		if o["features.shard"] != "on" || o["features.shard-block-size"] != "4MB" || o["user.team"] != "blue" || o["cluster.self-heal-daemon"] != "" {
			t.Errorf("%s has options %v", s.Name(), o)
		}
	}
	// It cannot be taken back: the files of the volume are cut by it. Nor can
	// gluster forget an option of the user's.
	patch(t, r, v, func(v *v1alpha1.GlusterVolume) { v.Spec.Options = options{"features.shard": "off"} })
	condition(t, r, v, v1alpha1.ConditionSpecAccepted, metav1.ConditionFalse, v1alpha1.ReasonOptionRefused, `"features.shard" = "off"`)
	patch(t, r, v, func(v *v1alpha1.GlusterVolume) { v.Spec.Options = nil })
	condition(t, r, v, v1alpha1.ConditionSpecAccepted, metav1.ConditionFalse, v1alpha1.ReasonOptionRefused, `"features.shard" = "(default)"`, `"user.team" = "(default)"`)
	if o := optionsOf(t, p.servers(r)[0], v.Name); o["features.shard"] != "on" {
		t.Errorf("features.shard is %q, want on as before", o["features.shard"])
	}
	remove(t, r, v)
}

// R9: a refused cluster option becomes a condition and holds up neither other
// options nor a server that joins at the same time; a key that goes is reset.
func TestRefusedClusterOptionHoldsUpNothing(t *testing.T) {
	r := begin(t)
	take(t, r, 4, 5, 6)
	p := declare(t, r, "options", 4, 5)
	p.converged(t, r)
	patch(t, r, p.cluster, func(c *v1alpha1.GlusterCluster) {
		c.Spec.ClusterOptions = options{"cluster.halo-enabled": "on", "cluster.op-version": "100000", "cluster.daemon-log-level": "WARNING"}
	})
	node := p.add(t, r, 6)
	must(t, r.AwaitCondition(t.Context(), slow, node, v1alpha1.ConditionAvailable, metav1.ConditionTrue, ""))
	condition(t, r, p.cluster, v1alpha1.ConditionSpecAccepted, metav1.ConditionFalse, v1alpha1.ReasonOptionRefused,
		`"cluster.halo-enabled"`, `"cluster.op-version"`)
	p.converged(t, r)
	for _, s := range p.servers(r) {
		if got := clusterOption(t, s, "cluster.daemon-log-level"); got != "WARNING" {
			t.Errorf("%s has cluster.daemon-log-level %q, want WARNING", s.Name(), got)
		}
	}
	commands, err := rig.AllChanges(p.servers(r)...)
	must(t, err)
	if text := fmt.Sprint(commands); strings.Contains(text, "halo") || strings.Contains(text, "op-version") {
		t.Errorf("gluster was told of refused options: %s", text)
	}
	patch(t, r, p.cluster, func(c *v1alpha1.GlusterCluster) { c.Spec.ClusterOptions = nil })
	condition(t, r, p.cluster, v1alpha1.ConditionSpecAccepted, metav1.ConditionTrue, "")
	await(t, "the option is reset everywhere", func() string {
		for _, s := range p.servers(r) {
			if got := clusterOption(t, s, "cluster.daemon-log-level"); got == "WARNING" {
				return s.Name() + " has it still"
			}
		}
		return ""
	})
	p.converged(t, r)
}

// optionsOf are the options of a volume that are not as gluster has them by
// default, as one server sees them.
func optionsOf(t *testing.T, s *local.Server, volume string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, o := range volumes(t, s)[volume].Options {
		out[o.Name] = o.Value
	}
	return out
}

func awaitOptions(t *testing.T, all []*local.Server, volume string, ok func(map[string]string) string) {
	t.Helper()
	await(t, "all servers have the options of "+volume, func() string {
		for _, s := range all {
			if missing := ok(optionsOf(t, s, volume)); missing != "" {
				return s.Name() + " has " + missing
			}
		}
		return ""
	})
}

func clusterOption(t *testing.T, s *local.Server, key string) string {
	t.Helper()
	var answer struct {
		Options []struct {
			Name  string `xml:"Option"`
			Value string `xml:"Value"`
		} `xml:"volGetopts>Opt"`
	}
	ask(t, s, &answer, "volume", "get", "all", key)
	for _, o := range answer.Options {
		if o.Name == key {
			return o.Value
		}
	}
	return ""
}
