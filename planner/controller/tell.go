package controller

import (
	"strings"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gluster/anthill/planner"
)

const (
	normal  = corev1.EventTypeNormal
	warning = corev1.EventTypeWarning
)

// noteMax is the limit of an event's note, in bytes.
const noteMax = 1024

// tell records a Kubernetes event. Events that agree in all but their note are
// merged into one by the client library, and the later notes are lost; action
// tells apart those that must not be.
func (r *Reconciler) tell(o client.Object, kind, reason, action, note string) {
	tell(r.opts.Recorder, o, kind, reason, action, note)
}

func tell(to Recorder, o client.Object, kind, reason, action, note string) {
	to.Eventf(o, nil, kind, reason, action, "%s", cut(note))
}

func cut(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	if len(s) <= noteMax {
		return s
	}
	end := noteMax - len("…")
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}

// happened tells what planning found to have happened to o, once. What happened
// to an object that was let go of is told when it has been.
func (r *Reconciler) happened(c *cycle, o client.Object) {
	name := short(o)
	for _, e := range c.decision.Events {
		if e.Object == name && r.said.first(c.key, string(o.GetUID())+"|"+e.Reason+"|"+e.Message) {
			r.tell(o, severity(e), e.Reason, e.Reason, e.Message)
		}
	}
}

func severity(e planner.Event) string {
	if e.Warning {
		return warning
	}
	return normal
}

// silence is a Recorder that drops everything.
type silence struct{}

func (silence) Eventf(_, _ runtime.Object, _, _, _, _ string, _ ...any) {}
