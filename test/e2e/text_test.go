package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
)

// lacks says which of these parts text does not have; "" if it has all.
func lacks(text string, parts []string) string {
	for _, p := range parts {
		if !strings.Contains(text, p) {
			return fmt.Sprintf("%q is not in %q", p, text)
		}
	}
	return ""
}

// brickRoot is <brick directory>/<volume id> of a brick host:/path/set/brick.
func brickRoot(name string) string {
	_, path, _ := strings.Cut(name, ":")
	return filepath.Dir(filepath.Dir(path))
}

// differs says that is is not as it should be; "" if it is.
func differs(is, want string) string {
	if is != want {
		return fmt.Sprintf("%q, not %q", is, want)
	}
	return ""
}
