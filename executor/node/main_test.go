package node

import (
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gluster/anthill/executor/gate"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// until waits for cond, which something else makes true.
func until(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for range 2000 {
		if cond() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("waited in vain for %s", what)
}

// files are the folders of a node of the test's own.
func files(t *testing.T) gate.Options {
	t.Helper()
	dir := t.TempDir()
	o := gate.Options{
		StateDir: dir + "/state", GlusterdDir: dir + "/glusterd", LogDir: dir + "/log", RunDir: dir + "/run", BinaryDir: dir + "/lib",
		PIDFiles: []string{dir + "/pid"}, NodeFile: dir + "/node/node.json", BricksDir: dir + "/bricks",
	}
	write(t, o.GlusterdDir+"/glusterd.info", "UUID=u1\noperating-version=100000\n")
	return o
}

func write(t *testing.T, path, text string) {
	t.Helper()
	for i := len(path) - 1; i > 0; i-- {
		if path[i] == '/' {
			if err := os.MkdirAll(path[:i], 0o755); err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// brick makes glusterd know a brick of this server, or of another.
func brick(t *testing.T, o gate.Options, volume, host, uuid, path string) {
	t.Helper()
	write(t, o.GlusterdDir+"/vols/"+volume+"/bricks/"+host+":-b", "uuid="+uuid+"\nhostname="+host+"\npath="+path+"\n")
}
