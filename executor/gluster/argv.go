package gluster

import (
	"fmt"
	"strconv"
	"strings"
)

// Names gluster gives to things.
const (
	// AllVolumes is the name that stands for the cluster-wide options.
	AllVolumes = "all"
	// OptionBarrier is set on a volume only to take, and wait for, the lock that
	// an earlier command on that volume may still hold.
	OptionBarrier = "user.anthill.barrier"
	// OptionVolume marks a volume as ours; its value is Anthill's volume id.
	OptionVolume = "user.anthill.volume"
)

// cli is the start of every command line: no questions, answers in XML.
func cli(words ...string) []string {
	return append([]string{"gluster", "--mode=script", "--xml"}, words...)
}

// ArgvVersion asks for the version; it works without a daemon.
func ArgvVersion() []string { return []string{"gluster", "--version"} }

// ArgvUUIDGet asks glusterd for its UUID, which makes one if it has none yet:
// it mutates.
func ArgvUUIDGet() []string { return cli("system::", "uuid", "get") }

// ArgvPoolList lists the members with the server itself as "localhost".
func ArgvPoolList() []string { return cli("pool", "list") }

// ArgvPeerStatus lists the other members.
func ArgvPeerStatus() []string { return cli("peer", "status") }

// ArgvPeerProbe invites a host into the pool.
func ArgvPeerProbe(host string) []string { return cli("peer", "probe", host) }

// ArgvVolumeInfo describes one volume, or all if name is empty.
func ArgvVolumeInfo(name string) []string {
	if name == "" {
		return cli("volume", "info")
	}
	return cli("volume", "info", name)
}

// A CreateSpec is the layout of a new volume. Replica and Disperse are the
// sizes of a set and exclude each other; both zero is a distributed volume. The
// number of bricks is a multiple of the size of a set, bricks of a set adjoin.
type CreateSpec struct {
	Name       string
	Replica    int // 0 or 1: none
	Arbiter    int // 0 or 1; with Replica 3: the last brick of each set
	Disperse   int // bricks of a set, data and redundancy together
	Redundancy int
	Bricks     []Brick // Host and Path
}

// Validate checks the counts, which glusterd in script mode answers with a half
// made volume (LAB-17).
func (s CreateSpec) Validate() error {
	size := max(1, s.Replica, s.Disperse)
	switch {
	case s.Name == "":
		return fmt.Errorf("creating volume: name is missing")
	case s.Replica > 1 && s.Disperse > 0:
		return fmt.Errorf("creating volume %q: replica and disperse exclude each other", s.Name)
	case s.Arbiter < 0 || s.Arbiter > 1 || s.Arbiter == 1 && s.Replica != 3:
		return fmt.Errorf("creating volume %q: one arbiter goes with replica 3 only, not %d with %d", s.Name, s.Arbiter, s.Replica)
	case s.Disperse > 0 && (s.Redundancy < 1 || 2*s.Redundancy >= s.Disperse):
		return fmt.Errorf("creating volume %q: redundancy %d does not fit disperse %d", s.Name, s.Redundancy, s.Disperse)
	case len(s.Bricks) == 0 || len(s.Bricks)%size != 0:
		return fmt.Errorf("creating volume %q: %d bricks are no multiple of %d", s.Name, len(s.Bricks), size)
	}
	return nil
}

// ArgvVolumeCreate makes a volume. force is never used.
func ArgvVolumeCreate(s CreateSpec) []string {
	a := cli("volume", "create", s.Name)
	switch {
	case s.Disperse > 0:
		a = append(a, "disperse", strconv.Itoa(s.Disperse), "redundancy", strconv.Itoa(s.Redundancy))
	case s.Arbiter > 0:
		a = append(a, "replica", strconv.Itoa(s.Replica), "arbiter", strconv.Itoa(s.Arbiter))
	case s.Replica > 1:
		a = append(a, "replica", strconv.Itoa(s.Replica))
	}
	return appendBricks(a, s.Bricks)
}

// ArgvVolumeStart starts a volume. With force it also starts the missing brick
// processes of a started one.
func ArgvVolumeStart(name string, force bool) []string {
	if force {
		return cli("volume", "start", name, "force")
	}
	return cli("volume", "start", name)
}

// ArgvVolumeStop stops a volume for all clients.
func ArgvVolumeStop(name string) []string { return cli("volume", "stop", name) }

// ArgvVolumeDelete forgets a stopped volume; the bricks' content stays.
func ArgvVolumeDelete(name string) []string { return cli("volume", "delete", name) }

// ArgvVolumeSet sets one option of a volume. The value must not be empty.
func ArgvVolumeSet(name, key, value string) []string { return cli("volume", "set", name, key, value) }

// ArgvVolumeReset puts one option of a volume back to its default.
func ArgvVolumeReset(name, key string) []string { return cli("volume", "reset", name, key) }

// ArgvClusterSet sets one cluster-wide option.
func ArgvClusterSet(key, value string) []string { return ArgvVolumeSet(AllVolumes, key, value) }

// ArgvClusterReset puts one cluster-wide option back to its default.
func ArgvClusterReset(key string) []string { return ArgvVolumeReset(AllVolumes, key) }

// ArgvVolumeGet lists all options of a volume, or the cluster-wide ones of
// AllVolumes, with their defaults.
func ArgvVolumeGet(name string) []string { return cli("volume", "get", name, "all") }

// ArgvBarrier sets OptionBarrier to the attempt.
func ArgvBarrier(name, attempt string) []string { return ArgvVolumeSet(name, OptionBarrier, attempt) }

// ArgvAddBrick adds whole sets to a volume.
func ArgvAddBrick(name string, bricks []Brick) []string {
	return appendBricks(cli("volume", "add-brick", name), bricks)
}

// ArgvRebalanceStart starts a rebalance; it takes ten seconds to answer.
func ArgvRebalanceStart(name string) []string { return cli("volume", "rebalance", name, "start") }

// ArgvRebalanceStatus tells how the last rebalance went on each server. It
// takes the volume's lock.
func ArgvRebalanceStatus(name string) []string { return cli("volume", "rebalance", name, "status") }

// ArgvVolumeStatus tells of the brick processes with sizes. It takes the
// volume's lock.
func ArgvVolumeStatus(name string) []string { return cli("volume", "status", name, "detail") }

// ArgvVolumeServices tells of brick processes, self-heal daemons and tasks. It
// takes the volume's lock.
func ArgvVolumeServices(name string) []string { return cli("volume", "status", name) }

// ArgvHealInfoSummary counts what is to be healed, brick by brick.
func ArgvHealInfoSummary(name string) []string { return cli("volume", "heal", name, "info", "summary") }

// ArgvHealStatistics tells of the crawls of the self-heal daemons. The answer is
// a text all the same.
func ArgvHealStatistics(name string) []string { return cli("volume", "heal", name, "statistics") }

func appendBricks(argv []string, bricks []Brick) []string {
	for _, b := range bricks {
		argv = append(argv, b.String())
	}
	return argv
}

// words is a command line without "gluster" and without options: what
// cmd_history.log holds of it.
func words(argv []string) []string {
	var out []string
	for i, a := range argv {
		if i == 0 && a == "gluster" || strings.HasPrefix(a, "--") {
			continue
		}
		out = append(out, a)
	}
	return out
}

// verb is the command without its operands: "peer probe", "volume set",
// "volume rebalance start", "volume heal info".
func verb(argv []string) string {
	w := words(argv)
	switch {
	case len(w) < 2:
		return strings.Join(w, " ")
	case w[0] == "volume" && w[1] == "rebalance" && len(w) > 3:
		return "volume rebalance " + w[3]
	case w[0] == "volume" && w[1] == "heal" && len(w) > 3:
		return "volume heal " + w[3]
	case w[0] == "volume" && len(w) > 2 && w[2] == AllVolumes && (w[1] == "set" || w[1] == "reset"):
		return "volume " + w[1] + " all"
	}
	return w[0] + " " + w[1]
}
