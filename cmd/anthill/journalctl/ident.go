package journalctl

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/gluster/anthill/cmd/anthill/cli"
	"github.com/gluster/anthill/journal"
)

// prefixMin is the shortest prefix of an id that is accepted.
const prefixMin = 6

// resolve finds the operation an argument means: an id, or a prefix of one
// that only one operation has.
func (o *opened) resolve(ctx context.Context, arg string) (journal.OpID, error) {
	prefix, err := parsePrefix(arg)
	if err != nil {
		return journal.OpID{}, err
	}
	if id, err := uuid.Parse(prefix); err == nil {
		return id, nil
	}
	const shown = 4
	heads, err := o.Ops(ctx, journal.OpID{}, shown+1, journal.Filter{Prefix: prefix})
	if err != nil {
		return journal.OpID{}, fmt.Errorf("looking for operation %q: %w", arg, err)
	}
	switch len(heads) {
	case 0:
		return journal.OpID{}, noOperation(arg)
	case 1:
		return heads[0].ID, nil
	}
	var ids []string
	for _, h := range heads[:min(len(heads), shown)] {
		ids = append(ids, h.ID.String())
	}
	if len(heads) > shown {
		ids = append(ids, "...")
	}
	return journal.OpID{}, cli.Usagef("operation %q is ambiguous: it begins %s", arg, strings.Join(ids, ", "))
}

func noOperation(arg string) error {
	return cli.Errorf(cli.NotFound, "no operation %q in the journal: anthill journal ls --all lists them", arg)
}

// parsePrefix brings a prefix of an id into the form ids are written in: lower
// case, dashes where they belong.
func parsePrefix(arg string) (string, error) {
	digits := strings.ReplaceAll(strings.ToLower(arg), "-", "")
	if len(digits) < prefixMin || len(digits) > 32 || strings.Trim(digits, "0123456789abcdef") != "" {
		return "", cli.Usagef("operation %q: an id as ls prints it, or a prefix of at least %d hexadecimal digits, is accepted", arg, prefixMin)
	}
	var b strings.Builder
	for i, r := range digits {
		if i == 8 || i == 12 || i == 16 || i == 20 {
			b.WriteByte('-')
		}
		b.WriteRune(r)
	}
	return b.String(), nil
}
