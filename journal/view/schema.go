package view

import (
	"encoding/json"
	"fmt"

	"github.com/gluster/anthill/journal"
)

// An Upcaster turns a payload of one schema version into the next. It is pure
// and total over what releases of that version wrote.
type Upcaster func(json.RawMessage) (json.RawMessage, error)

type schemaKey struct {
	typ journal.Type
	sv  int
}

// Schemas knows how to bring payloads of earlier releases up to date. The zero
// value knows version 1 of every type and nothing to do.
type Schemas struct {
	up map[schemaKey]Upcaster
}

// Register adds the step from version sv of a type to sv+1. It panics if there
// is one: that is a mistake in the program.
func (s *Schemas) Register(t journal.Type, sv int, u Upcaster) {
	k := schemaKey{t, sv}
	if _, ok := s.up[k]; ok {
		panic(fmt.Sprintf("two upcasters from %s version %d", t, sv))
	}
	if s.up == nil {
		s.up = map[schemaKey]Upcaster{}
	}
	s.up[k] = u
}

// decode brings the payload of an event up to date and decodes it into v.
func (s *Schemas) decode(ev *journal.Event, v any) error {
	data, sv := ev.Data, max(ev.SV, 1)
	for {
		u, ok := s.up[schemaKey{ev.Type, sv}]
		if !ok {
			break
		}
		var err error
		if data, err = u(data); err != nil {
			return fmt.Errorf("bringing %s version %d up to date: %w", ev.Type, sv, err)
		}
		sv++
	}
	if sv != s.current(ev.Type) {
		return fmt.Errorf("%s version %d is newer than this release", ev.Type, sv)
	}
	if v == nil || len(data) == 0 {
		return nil
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("decoding the payload of %s: %w", ev.Type, err)
	}
	return nil
}

// current is the version of a type this release writes and folds.
func (s *Schemas) current(t journal.Type) int {
	sv := 1
	for k := range s.up {
		if k.typ == t {
			sv = max(sv, k.sv+1)
		}
	}
	return sv
}

// released are the upcasters of this release: every payload is still at its
// first version.
var released Schemas
