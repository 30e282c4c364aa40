package local

import (
	"fmt"
	"os"
	"strings"
)

// mountsBelow lists mount points of this program's mount namespace below dir,
// deepest first.
func mountsBelow(dir string) ([]string, error) {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("listing mounts: %w", err)
	}
	var out []string
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) > 4 {
			point := unescapeMount(f[4])
			if point == dir || strings.HasPrefix(point, dir+"/") {
				out = append([]string{point}, out...)
			}
		}
	}
	return out, nil
}

// unescapeMount undoes the octal escapes of mountinfo.
var unescapeMount = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace
