package program

import (
	"fmt"
	"os"
	"path/filepath"
)

// cacheVariable overrides where built programs are kept.
const cacheVariable = "ANTHILL_CACHE"

// CacheDir is where built programs are kept, by name and version, for all
// checkouts: $ANTHILL_CACHE, else anthill in the user's cache folder.
func CacheDir() (string, error) {
	if dir := os.Getenv(cacheVariable); dir != "" {
		return dir, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the cache folder: %w; set %s", err, cacheVariable)
	}
	return filepath.Join(dir, "anthill"), nil
}
