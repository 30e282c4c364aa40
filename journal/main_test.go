package journal

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// childEnv names what a re-executed test binary does instead of testing.
const childEnv = "JOURNAL_TEST_CHILD"

// children are run in processes of their own, so that they can be killed,
// traced or put into a namespace.
var children = map[string]func() error{
	"append": childAppend,
	"full":   childFull,
	"hold":   childHold,
}

func TestMain(m *testing.M) {
	if name := os.Getenv(childEnv); name != "" {
		if err := children[name](); err != nil {
			fmt.Println("child:", err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}
