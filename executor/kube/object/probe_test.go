package object

import (
	"testing"

	"github.com/gluster/anthill/executor/node/probe"
)

func TestProbesAskWhatIsAnswered(t *testing.T) {
	get, run := readiness().HTTPGet, liveness().Exec.Command
	if get.Port.IntValue() != probe.ReadyPort || get.Path != probe.ReadyPath {
		t.Errorf("readiness asks %s%s, answered is :%d%s", get.Port.String(), get.Path, probe.ReadyPort, probe.ReadyPath)
	}
	if verb := run[len(run)-1]; verb != probe.Verb {
		t.Errorf("liveness runs %q, want verb %s", run, probe.Verb)
	}
	if wait := readiness().TimeoutSeconds; float64(wait) <= probe.Timeout.Seconds() {
		t.Errorf("the kubelet waits %d s, glusterd may take %v", wait, probe.Timeout)
	}
}
