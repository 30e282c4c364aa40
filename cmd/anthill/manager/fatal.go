package manager

import (
	"os"

	"github.com/go-logr/logr"

	"github.com/gluster/anthill/journal"
)

// fatal ends the process at once: a commit has an unknown outcome, and nothing
// may follow from it. Not even what was deferred: that could append.
func fatal(log logr.Logger, err error) {
	log.Error(err, "journal: a commit failed with unknown outcome, ending the process")
	os.Exit(journal.ExitPoisoned)
}
