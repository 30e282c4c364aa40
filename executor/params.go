package executor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gluster/anthill/journal/view"
)

// resolve replaces the references in a step's parameters ("$<step id>.<field>")
// by values from the receipts of earlier steps. Plans are immutable, so it is
// done anew each time.
func resolve(op *view.Op, index int) (json.RawMessage, error) {
	raw := op.Steps[index].Params
	if !bytes.Contains(raw, []byte(`"$`)) {
		return raw, nil
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, fmt.Errorf("parameters of step %q: %w", op.Steps[index].ID, err)
	}
	v, err := substitute(v, func(ref string) (any, error) { return lookup(op, index, ref) })
	if err != nil {
		return nil, fmt.Errorf("parameters of step %q: %w", op.Steps[index].ID, err)
	}
	return json.Marshal(v)
}

func substitute(v any, get func(string) (any, error)) (any, error) {
	var err error
	switch t := v.(type) {
	case string:
		if ref, ok := strings.CutPrefix(t, "$"); ok {
			return get(ref)
		}
	case []any:
		for i := range t {
			if t[i], err = substitute(t[i], get); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for k := range t {
			if t[k], err = substitute(t[k], get); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

func lookup(op *view.Op, index int, ref string) (any, error) {
	id, field, ok := strings.Cut(ref, ".")
	if !ok {
		return nil, fmt.Errorf("reference $%s has no field", ref)
	}
	for i := range index {
		if op.Steps[i].ID != id {
			continue
		}
		var receipt map[string]any
		if err := json.Unmarshal(op.Steps[i].Receipt, &receipt); err != nil {
			return nil, fmt.Errorf("reference $%s: receipt of step %q: %w", ref, id, err)
		}
		v, ok := receipt[field]
		if !ok {
			return nil, fmt.Errorf("reference $%s: the receipt of step %q has no field %q", ref, id, field)
		}
		return v, nil
	}
	return nil, fmt.Errorf("reference $%s: no earlier step %q", ref, id)
}

func decodeStrict(raw json.RawMessage, into any) error {
	if len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return d.Decode(into)
}
