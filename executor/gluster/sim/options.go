package sim

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"github.com/gluster/anthill/executor/gluster"
)

//go:embed options-10.3.txt
var optionsText string

// An optionRow is an option of 10.3 with its default, in the order of volume
// get.
type optionRow struct{ key, def string }

var (
	volumeOptions = readOptions(optionsText)
	optionDefault = indexOptions(volumeOptions)
)

func readOptions(text string) []optionRow {
	var out []optionRow
	for line := range strings.Lines(text) {
		k, v, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		out = append(out, optionRow{k, v})
	}
	return out
}

func indexOptions(rows []optionRow) map[string]string {
	m := map[string]string{"cluster.op-version": "", "cluster.max-op-version": ""}
	for _, r := range rows {
		m[r.key] = r.def
	}
	return m
}

// clusterOptions are those of all volumes together (F17), in gluster's order.
var clusterOptions = []optionRow{
	{"cluster.server-quorum-ratio", "51"},
	{"cluster.enable-shared-storage", "disable"},
	{"cluster.op-version", ""},
	{"cluster.max-op-version", ""},
	{"cluster.brick-multiplex", "disable"},
	{"cluster.max-bricks-per-process", "250"},
	{"glusterd.vol_count_per_thread", "100"},
	{"cluster.localtime-logging", "disable"},
	{"cluster.daemon-log-level", "INFO"},
	{"cluster.brick-graceful-cleanup", "disable"},
}

func isClusterOption(key string) bool {
	for _, r := range clusterOptions {
		if r.key == key {
			return true
		}
	}
	return false
}

// onlyCluster are the cluster-wide ones that are refused on one volume.
func onlyCluster(key string) bool {
	return isClusterOption(key) && key != "cluster.server-quorum-ratio" && key != "cluster.localtime-logging" && key != "cluster.daemon-log-level"
}

// checkValue refuses the values that glusterd refuses, as far as the default
// tells what kind the option is.
func checkValue(key, value string) string {
	_, short, _ := strings.Cut(key, ".")
	switch def := optionDefault[key]; {
	case def == "on" || def == "off" || def == "enable" || def == "disable" || def == "true" || def == "false":
		switch strings.ToLower(value) {
		case "on", "off", "yes", "no", "true", "false", "enable", "disable", "1", "0":
			return ""
		}
		return "Error, Validation Failed"
	case strings.HasSuffix(def, "MB") || strings.HasSuffix(def, "KB"):
		if strings.Trim(value, "0123456789KMGTBkmgtb") != "" {
			return fmt.Sprintf("invalid number format %q in option %q", value, short)
		}
	}
	return ""
}

func failedSet(errno int, text string) gluster.Output {
	return reply(-1, errno, text, withOutput("volSet", "Set volume unsuccessful"))
}

func (c *call) set(ctx context.Context) (gluster.Output, error) {
	name := c.arg(2)
	if len(c.words) < 5 || len(c.words)%2 == 0 || c.arg(4) == "" {
		return usage("volume set <VOLNAME> <KEY> <VALUE>"), nil
	}
	if name == gluster.AllVolumes {
		return c.setAll(ctx)
	}
	pairs := c.words[3:]
	o := c.named(true, func(s *server, v *volume, origin bool) string {
		if !origin {
			return ""
		}
		for i := 0; i < len(pairs); i += 2 {
			key, value := pairs[i], pairs[i+1]
			if strings.HasPrefix(key, "user.") {
				continue
			}
			if _, known := optionDefault[key]; !known {
				return fmt.Sprintf("option : %s does not exist", key)
			}
			if onlyCluster(key) {
				return "Not a valid option for single volume"
			}
			if text := checkValue(key, value); text != "" {
				return text
			}
		}
		return ""
	}, func(s *server, v *volume) {
		for i := 0; i < len(pairs); i += 2 {
			v.Options[pairs[i]] = pairs[i+1]
		}
	})
	o.failed = failedSet
	o.done = func() gluster.Output { return reply(0, 0, "", withOutput("volSet", "Set volume successful")) }
	return c.transact(ctx, o)
}

func (c *call) setAll(ctx context.Context) (gluster.Output, error) {
	key, value := c.arg(3), c.arg(4)
	o := op{lock: "", syncop: true, failed: failedSet}
	o.stage = func(s *server, origin bool) string {
		_, known := optionDefault[key]
		switch {
		case strings.HasPrefix(key, "user."):
			return "" // found out in the commit only
		case !known:
			return fmt.Sprintf("option : %s does not exist", key)
		case !isClusterOption(key):
			return "Not a valid option for all volumes"
		case key == "cluster.op-version":
			n, _ := strconv.Atoi(value)
			switch {
			case n > opVersion:
				return fmt.Sprintf("Required op_version (%d) is not supported. Max supported op version is %d", n, opVersion)
			case n <= s.Mem.OpVer:
				return fmt.Sprintf("Required op-version (%d) should not be equal or lower than current cluster op-version (%d).", n, s.Mem.OpVer)
			}
		case key == "cluster.max-bricks-per-process" && !isTrue(s.Mem.Options["cluster.brick-multiplex"]):
			return "Brick-multiplexing is not enabled. Please enable brick multiplexing before trying to set this option."
		}
		return checkValue(key, value)
	}
	o.commit = func(s *server) { s.Mem.Options[key] = value }
	o.store = func(s *server) { s.Disk.Options[key] = value }
	o.done = func() gluster.Output { return reply(0, 0, "", withOutput("volSet", "Set volume successful")) }
	if strings.HasPrefix(key, "user.") {
		o.refused = "Commit failed on localhost. Please check the log file for more details."
	}
	return c.transact(ctx, o)
}

func isTrue(v string) bool {
	switch strings.ToLower(v) {
	case "on", "yes", "true", "enable", "1":
		return true
	}
	return false
}

func failedReset(errno int, text string) gluster.Output {
	return reply(-1, errno, text, withOutput("volReset", text))
}

func (c *call) reset(ctx context.Context) (gluster.Output, error) {
	name, key := c.arg(2), c.arg(3)
	if len(c.words) != 4 {
		return usage("volume reset <VOLNAME> [option] [force]"), nil
	}
	done := func() gluster.Output { return reply(0, 0, "", withOutput("volReset", "reset volume successful")) }
	if name == gluster.AllVolumes {
		o := op{lock: "", syncop: true, failed: failedReset, done: done}
		o.stage = func(*server, bool) string {
			if !isClusterOption(key) {
				return fmt.Sprintf("Option %s does not exist", key)
			}
			return ""
		}
		o.commit = func(s *server) { delete(s.Mem.Options, key) }
		o.store = func(s *server) { delete(s.Disk.Options, key) }
		return c.transact(ctx, o)
	}
	// Not even a user.* option that is set is known to a reset.
	o := c.named(true, func(_ *server, _ *volume, _ bool) string {
		if _, known := optionDefault[key]; !known {
			return fmt.Sprintf("Option %s does not exist", key)
		}
		return ""
	}, func(_ *server, v *volume) { delete(v.Options, key) })
	o.failed, o.done = failedReset, done
	return c.transact(ctx, o)
}

func (c *call) volumeGet() gluster.Output {
	fail := func(text string) gluster.Output {
		return replyExit(1, -1, 0, text, withOutput("volGetopts", "volume get option: failed: "+text))
	}
	rows, set := volumeOptions, c.s.Mem.Options
	if c.arg(2) == gluster.AllVolumes {
		rows = clusterOptions
	} else {
		v := c.s.Mem.Volumes[c.arg(2)]
		if v == nil {
			return fail(fmt.Sprintf("Volume %s does not exist", c.arg(2)))
		}
		set = v.Options
	}
	var out []optionRow
	for _, r := range rows {
		if c.arg(3) != "all" && c.arg(3) != r.key {
			continue
		}
		value, has := set[r.key]
		switch {
		case r.key == "cluster.op-version":
			value = strconv.Itoa(c.s.Mem.OpVer)
		case r.key == "cluster.max-op-version":
			value = strconv.Itoa(opVersion)
		case !has && c.arg(3) == "all":
			value = r.def + " (DEFAULT)"
		case !has:
			value = r.def
		}
		out = append(out, optionRow{r.key, value})
	}
	if len(out) == 0 {
		return fail("Did you mean cluster.nufa or ...switch?") // whatever it was
	}
	return reply(0, 0, "", func(d *doc) {
		d.in("volGetopts", func() {
			d.el("count", len(out))
			for _, r := range out {
				d.in("Opt", func() {
					d.el("Option", r.key)
					d.el("Value", r.def)
				})
			}
		})
	})
}
