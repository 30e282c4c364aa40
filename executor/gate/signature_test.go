package gate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDescribe(t *testing.T) {
	cases := map[string]struct{ reason, export, want string }{
		"Nothing":     {"nothing was found", "", ""},
		"FileSystem":  {"a file system", "DEVNAME=/dev/x\nUUID=u\nTYPE=ext4\nUSAGE=filesystem\n", "ext4"},
		"Table":       {"a partition table", "DEVNAME=/dev/x\nPTTYPE=gpt\nPTUUID=u\n", "a partition table (gpt)"},
		"Partition":   {"a partition with nothing in it says where it is", "DEVNAME=/dev/x1\nPART_ENTRY_SCHEME=gpt\nPART_ENTRY_NUMBER=1\n", ""},
		"InPartition": {"a partition with something in it", "PART_ENTRY_SCHEME=gpt\nTYPE=xfs\n", "xfs"},
		"Unknown":     {"what has no name is something all the same", "DEVNAME=/dev/x\nNEWS=1\n", "something with NEWS=1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := describe(tc.export); got != tc.want {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// Whatever a tool does but find nothing, nothing is formatted.
func TestSignaturesOfOddTools(t *testing.T) {
	cases := map[string]struct {
		reason        string
		blkid, wipefs string
		holds, err    string
	}{
		"Both":       {"both find nothing", "exit 2", "exit 0", "", ""},
		"BlkidFails": {"one cannot look", "echo broken >&2; exit 4", "exit 0", "", "blkid of"},
		"Disagree":   {"one finds what the other does not know", "exit 2", "echo rare_raid_member", "rare_raid_member", ""},
		"Nameless":   {"it says something that is no name", "exit 2", "echo '?' >&2", "something wipefs has no name for", ""},
		"WipefsFail": {"the other cannot look", "exit 2", "exit 1", "", "wipefs of"},
		"Hangs":      {"a tool waits for a disk that hangs", "exec sleep 60", "exit 0", "", "did not answer"},
		"Missing":    {"a tool is not there", "", "exit 0", "", "there is no blkid"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for tool, script := range map[string]string{"blkid": tc.blkid, "wipefs": tc.wipefs} {
				if script == "" {
					continue
				}
				if err := os.WriteFile(filepath.Join(dir, tool), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			o := Options{ToolDirs: []string{dir}, StateWait: 2e9}
			if name == "Hangs" {
				o.StateWait = 2e8
			}
			got, err := (&gate{o.withDefaults()}).signatures(t.Context(), "/dev/x")
			if got != tc.holds || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s: %q, %v; want %q, %q", tc.reason, got, err, tc.holds, tc.err)
			}
		})
	}
}
