package node

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/gluster/anthill/executor/gate"
)

func TestRotate(t *testing.T) {
	n := newNode(t, Options{})
	dir := gate.LogDir(n.o.Gate)
	big, small := strings.Repeat("x", logBytesMax)+"end\n", "small\n"
	write(t, n.o.Gate.StateDir+"/x", "")
	write(t, dir+"/glusterd.log", big)
	write(t, dir+"/bricks/b1.log", big)
	write(t, dir+"/cmd_history.log", big)
	write(t, dir+"/cli.log", small)
	write(t, dir+"/gsync/deep.log", big)
	daemon, err := os.OpenFile(dir+"/glusterd.log", os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer daemon.Close()
	is := func(name, want string) {
		t.Helper()
		if b, err := os.ReadFile(dir + "/" + name); err != nil || string(b) != want {
			t.Errorf("%s: %d bytes, %v; want %d", name, len(b), err, len(want))
		}
	}
	release, err := gate.Hold(t.Context(), n.o.Gate, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.rotate(t.Context(), dir); err == nil {
		t.Error("the history was cut while a command runs")
	}
	is("cmd_history.log", big)
	release()
	if err := n.rotate(t.Context(), dir); err != nil {
		t.Error(err)
	}
	fmt.Fprint(daemon, "goes on\n")
	is("glusterd.log", "goes on\n")
	is("glusterd.log.1", big)
	is("bricks/b1.log", "")
	is("bricks/b1.log.1", big)
	is("cmd_history.log", "")
	is("cmd_history.log.1", big)
	is("cli.log", small)
	is("gsync/deep.log", big)
}
