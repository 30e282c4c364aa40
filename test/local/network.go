package local

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Numbers of the last part of an address.
const (
	clientFirst = 100 // client n has clientFirst+n
	guestFirst  = 200 // guest n has guestFirst+n
	hostNumber  = 254
)

// subnetsTried bounds the search for a subnet that nothing else uses.
const subnetsTried = 64

// network is the network of an environment: a bridge on the host, and one pair of
// virtual ethernet ends per machine. Everything is named by id, so that it can
// be found again without any record.
type network struct {
	id  string
	net string // "10.x.y"
}

func (n network) bridge() string             { return "ah" + n.id }
func (n network) port(machine string) string { return n.bridge() + machine }
func (n network) addr(number int) string     { return n.net + "." + strconv.Itoa(number) }

// mac is fixed per machine: neighbours keep it in their caches over a restart.
// Number 0 is the bridge's: a bridge without one of its own takes a port's.
func (n network) mac(number int) string {
	return fmt.Sprintf("02:%s:%s:%s:00:%02x", n.id[0:2], n.id[2:4], n.id[4:6], number)
}

// chooseSubnet returns the first free of the subnets 10.64-127.0-255.0/24 that
// follow from the id.
func chooseSubnet(id string, taken []netip.Prefix) (string, error) {
	sum, err := strconv.ParseUint(id, 16, 32)
	if err != nil {
		return "", fmt.Errorf("choosing a subnet for %q: %w", id, err)
	}
	for try := range uint64(subnetsTried) {
		// An odd stride visits all 2^14 subnets before it repeats one.
		at := (sum + try*7919) % (64 * 256)
		p := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(64 + at/256), byte(at % 256), 0}), 24)
		free := true
		for _, t := range taken {
			free = free && !t.Overlaps(p)
		}
		if free {
			return strings.TrimSuffix(p.Addr().String(), ".0"), nil
		}
	}
	return "", fmt.Errorf("choosing a subnet: the %d tried in 10.64.0.0/10 are all in use", subnetsTried)
}

// RoutesTaken lists what the host already routes, except the routes so wide
// that a subnet of ours is only a hole in them: the default one, 10.0.0.0/8.
func RoutesTaken() ([]netip.Prefix, error) {
	var out []netip.Prefix
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("listing the addresses of this machine: %w", err)
	}
	for _, a := range addrs {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Bits() >= 9 {
			out = append(out, p.Masked())
		}
	}
	data, err := os.ReadFile("/proc/net/route")
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing the routes of this machine: %w", err)
	}
	for s := bufio.NewScanner(bytes.NewReader(data)); s.Scan(); {
		f := strings.Fields(s.Text())
		if len(f) < 8 {
			continue
		}
		dest, err1 := hex.DecodeString(f[1])
		mask, err2 := hex.DecodeString(f[7])
		if err1 != nil || err2 != nil || len(dest) != 4 || len(mask) != 4 {
			continue // the header
		}
		var a [4]byte
		binary.LittleEndian.PutUint32(a[:], binary.BigEndian.Uint32(dest))
		bits, _ := net.IPMask{mask[3], mask[2], mask[1], mask[0]}.Size()
		if bits >= 9 {
			out = append(out, netip.PrefixFrom(netip.AddrFrom4(a), bits).Masked())
		}
	}
	return out, nil
}

// up makes the bridge; it is no error when it exists.
func (n network) up(ctx context.Context) error {
	if exists(n.bridge()) {
		return nil
	}
	return ip(ctx, 0,
		"link add "+n.bridge()+" address "+n.mac(0)+" type bridge",
		"address add "+n.addr(hostNumber)+"/24 dev "+n.bridge(),
		"link set "+n.bridge()+" up",
	)
}

// Route runs commands of ip(8) on the host, without the leading "ip", about
// routes that lead over the environment's bridge: they go with it.
func (e *Env) Route(ctx context.Context, commands ...string) error { return ip(ctx, 0, commands...) }

// down removes every link of the environment, known or not.
func (n network) down(ctx context.Context) error {
	names, err := n.links()
	var errs []error
	for _, name := range names {
		errs = append(errs, removeLink(ctx, name))
	}
	return errors.Join(append(errs, err)...)
}

// links lists the environment's links on the host.
func (n network) links() ([]string, error) {
	found, err := filepath.Glob("/sys/class/net/" + n.bridge() + "*")
	if err != nil {
		return nil, fmt.Errorf("listing links: %w", err)
	}
	for i := range found {
		found[i] = filepath.Base(found[i])
	}
	return found, nil
}

// attach gives the network namespace of pid its end of a pair.
func (n network) attach(ctx context.Context, machine string, number, pid int) error {
	port := n.port(machine)
	if err := removeLink(ctx, port); err != nil {
		return err
	}
	err := ip(ctx, 0,
		fmt.Sprintf("link add %s type veth peer name eth0 address %s netns %d", port, n.mac(number), pid),
		"link set "+port+" master "+n.bridge(),
		"link set "+port+" up",
	)
	if err != nil {
		return err
	}
	return ip(ctx, pid,
		"link set lo up",
		"address add "+n.addr(number)+"/24 dev eth0",
		"link set eth0 up",
	)
}

// cut takes the port out of the bridge. Both ends stay up, as with a switch
// that fails: nobody is told, packets just do not arrive. Without ARP the host
// does not answer on the loose end either.
func (n network) cut(ctx context.Context, machine string) error {
	return ip(ctx, 0, "link set "+n.port(machine)+" arp off", "link set "+n.port(machine)+" nomaster")
}

// heal undoes cut.
func (n network) heal(ctx context.Context, machine string) error {
	return ip(ctx, 0, "link set "+n.port(machine)+" arp on", "link set "+n.port(machine)+" master "+n.bridge())
}

// attached tells whether the machine's port is in the bridge.
func (n network) attached(machine string) bool {
	master, err := os.Readlink("/sys/class/net/" + n.port(machine) + "/master")
	return err == nil && filepath.Base(master) == n.bridge()
}

func exists(link string) bool {
	_, err := os.Lstat("/sys/class/net/" + link)
	return err == nil
}

// removeLink removes a link; the end of a namespace may remove it first.
func removeLink(ctx context.Context, name string) error {
	if !exists(name) {
		return nil
	}
	if err := ip(ctx, 0, "link delete "+name); err != nil && exists(name) {
		return err
	}
	return nil
}

// ip runs commands of ip(8), each without the leading "ip", stopping at the
// first that fails: on the host, or in the network namespace of pid.
func ip(ctx context.Context, pid int, commands ...string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	argv := []string{"ip", "-batch", "-"}
	if pid != 0 {
		argv = append([]string{"nsenter", "-t", strconv.Itoa(pid), "-n"}, argv...)
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdin = strings.NewReader(strings.Join(commands, "\n") + "\n")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("running ip %q: %w: %s", commands, err, bytes.TrimSpace(out))
	}
	return nil
}
