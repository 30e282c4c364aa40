package planner

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gluster/anthill/journal"
)

// madeThings are what a world's Kubernetes has beside pods, and who depends on
// what is being deleted.
type madeThings struct {
	service string // UID
	going   string // it is being deleted, held by this
	claims  []MadeClaim
	uids    int

	users   map[string][]string // PersistentVolumes by volume
	unknown string
}

func (m *madeThings) uid() string {
	m.uids++
	return fmt.Sprintf("uid-%d", m.uids)
}

// leaving is what is asked for once something is being deleted.
func (w *world) leaving() *Leaving {
	asked := w.cluster != nil && w.cluster.DeletionTimestamp != nil
	for _, v := range w.volumes {
		asked = asked || v.DeletionTimestamp != nil
	}
	if !asked {
		return nil
	}
	l := &Leaving{Users: w.made.users, Unknown: w.made.unknown}
	if w.cluster != nil && w.cluster.DeletionTimestamp != nil && w.cluster.Purges() && l.Unknown == "" {
		l.Made = &Made{Service: w.made.service, ServiceGoing: w.made.going, Claims: slices.Clone(w.made.claims)}
		for name, s := range w.servers {
			if s.pod != nil && s.pod.Declared && !s.pod.Foreign {
				l.Made.Pods = append(l.Made.Pods, name)
			}
		}
		slices.Sort(l.Made.Pods)
	}
	return l
}

// madeEnds makes true what an operation declared of claims and Service.
func (w *world) madeEnds(op journal.Plan) {
	m := &w.made
	for _, st := range op.Steps {
		switch st.Name {
		case StepMakeService:
			if m.service == "" {
				m.service = m.uid()
			}
		case StepRemoveService:
			m.service = ""
		case StepMakeClaims:
			var p ClaimsParams
			if json.Unmarshal(st.Params, &p) != nil {
				continue
			}
			for _, c := range p.Claims {
				if m.claim(c.Name) == nil {
					m.claims = append(m.claims, MadeClaim{Name: c.Name, Node: p.Node, UID: m.uid()})
				}
			}
		case StepRemoveClaims:
			var p RemoveClaimsParams
			if json.Unmarshal(st.Params, &p) != nil {
				continue
			}
			for _, ref := range p.Claims {
				if s := w.servers[p.Node]; s != nil && s.pod != nil {
					delete(s.pod.Claims, ref.Name)
				}
				m.claims = slices.DeleteFunc(m.claims, func(c MadeClaim) bool { return c.Name == ref.Name && c.UID == ref.UID })
			}
		}
	}
	slices.SortFunc(m.claims, func(a, b MadeClaim) int { return strings.Compare(a.Name, b.Name) })
}

func (m *madeThings) claim(name string) *MadeClaim {
	for i := range m.claims {
		if m.claims[i].Name == name {
			return &m.claims[i]
		}
	}
	return nil
}

// command is what kubernetes says of these things.
func (m *madeThings) command(a args) {
	if m.users == nil {
		m.users = map[string][]string{}
	}
	for volume, pv := range a.pairs("users") {
		m.users[volume] = append(m.users[volume], pv)
	}
	for _, volume := range a.all("unused") {
		delete(m.users, volume)
	}
	m.unknown = strings.TrimSpace(a.d.Input)
	for claim, pod := range a.pairs("mounts") {
		m.claim(claim).Users = []string{pod}
	}
	for _, claim := range a.all("unmounts") {
		m.claim(claim).Users = nil
	}
	for claim, holder := range a.pairs("held") {
		m.claim(claim).Going = "is being deleted, held by " + holder
	}
	for claim, node := range a.pairs("labelled") {
		m.claims = append(m.claims, MadeClaim{Name: claim, Node: node, UID: m.uid(), Foreign: "Anthill did not make it"})
	}
}
