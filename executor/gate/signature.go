package gate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Exit codes of blkid --probe.
const (
	blkidNothing    = 2
	blkidAmbivalent = 8
)

// signatures says what two tools find on a device, which know different things:
// empty if both find nothing at all.
func (g *gate) signatures(ctx context.Context, device string) (string, error) {
	found, err := g.blkid(ctx, device)
	if err != nil || found != "" {
		return found, err
	}
	types, err := g.wipefs(ctx, device)
	return strings.Join(types, ", "), err
}

// blkid asks blkid, by the device's content and not by its cache.
func (g *gate) blkid(ctx context.Context, device string) (string, error) {
	res, err := g.tool(ctx, "blkid", "--probe", "--output", "export", "--", device)
	if err != nil {
		return "", err
	}
	switch res.Exit {
	case blkidNothing:
		return "", nil
	case blkidAmbivalent:
		return "signatures that contradict each other", nil
	case 0:
		return describe(string(res.Stdout)), nil
	}
	return "", fmt.Errorf("blkid of %s ended with %d: %s", device, res.Exit, oneLine(string(res.Stderr)))
}

// describe names what blkid found. Of a partition it tells that, and where; that
// is nothing on it.
func describe(export string) string {
	var other string
	values := map[string]string{}
	for line := range strings.Lines(export) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		values[key] = value
		switch {
		case key == "", key == "DEVNAME", strings.HasPrefix(key, "PART_ENTRY_"), strings.HasPrefix(key, "ID_PART_ENTRY_"):
		default:
			other = key
		}
	}
	switch {
	case values["TYPE"] != "":
		return values["TYPE"]
	case values["PTTYPE"] != "":
		return fmt.Sprintf("a partition table (%s)", values["PTTYPE"])
	case other != "":
		return fmt.Sprintf("something with %s=%s", other, values[other])
	}
	return ""
}

// wipefs lists the types of all signatures.
func (g *gate) wipefs(ctx context.Context, device string) ([]string, error) {
	res, err := g.tool(ctx, "wipefs", "--no-act", "--noheadings", "--output", "TYPE", "--", device)
	if err != nil {
		return nil, err
	}
	if res.Exit != 0 {
		return nil, fmt.Errorf("wipefs of %s ended with %d: %s", device, res.Exit, oneLine(string(res.Stderr)))
	}
	types := strings.Fields(string(res.Stdout))
	if len(types) == 0 && strings.TrimSpace(string(res.Stdout)+string(res.Stderr)) != "" {
		types = []string{"something wipefs has no name for"}
	}
	slices.Sort(types)
	return slices.Compact(types), nil
}

// tool runs a tool that only looks.
func (g *gate) tool(ctx context.Context, name string, args ...string) (Result, error) {
	path, err := g.toolPath(name)
	if err != nil {
		return Result{}, err
	}
	res, err := child{path: path, argv: append([]string{name}, args...), deadline: g.StateWait, outMax: 64 << 10}.run(ctx)
	if err == nil && res.TimedOut {
		err = fmt.Errorf("%s did not answer within %v", name, g.StateWait)
	}
	return res, err
}

func (g *gate) toolPath(name string) (string, error) {
	for _, dir := range g.ToolDirs {
		p := filepath.Join(dir, name)
		if fi, err := os.Stat(p); err == nil && fi.Mode().IsRegular() {
			return p, nil
		}
	}
	return "", fmt.Errorf("there is no %s in %v", name, g.ToolDirs)
}
