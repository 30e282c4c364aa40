package procedure

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// A List holds every procedure a binary knows: the newest, and older ones that
// are needed as stepping stones.
type List[S, O any] struct {
	procedures []*Procedure[S, O] // newest first
}

// NewList builds a list. An empty one, and two procedures of one version, are
// refused.
func NewList[S, O any](procedures ...*Procedure[S, O]) (*List[S, O], error) {
	if len(procedures) == 0 {
		return nil, errors.New("no procedures")
	}
	l := &List[S, O]{procedures: slices.Clone(procedures)}
	slices.SortFunc(l.procedures, func(a, b *Procedure[S, O]) int { return cmp.Compare(b.version, a.version) })
	for i, p := range l.procedures[1:] {
		if p.version == l.procedures[i].version {
			return nil, fmt.Errorf("two procedures have version %d", p.version)
		}
	}
	return l, nil
}

// Newest is the procedure with the highest version.
func (l *List[S, O]) Newest() *Procedure[S, O] { return l.procedures[0] }

// NewestCompatible is the newest procedure that can take over a deployed
// version: the highest with minVersion <= deployed <= version, and simply the
// newest when nothing is deployed yet (nil). A version no procedure can take
// over, above all one that is newer than all of them, is an
// UnsupportedVersionError: nothing must be changed then.
func (l *List[S, O]) NewestCompatible(deployed *int) (*Procedure[S, O], error) {
	if deployed == nil {
		return l.Newest(), nil
	}
	for _, p := range l.procedures {
		if p.minVersion <= *deployed && *deployed <= p.version {
			return p, nil
		}
	}
	oldest := l.procedures[0].minVersion
	for _, p := range l.procedures {
		oldest = min(oldest, p.minVersion)
	}
	return nil, &UnsupportedVersionError{Deployed: *deployed, Oldest: oldest, Newest: l.Newest().version}
}

// An UnsupportedVersionError says that a deployed configuration cannot be taken
// over by this binary.
type UnsupportedVersionError struct {
	Deployed       int
	Oldest, Newest int // what can be taken over
}

func (e *UnsupportedVersionError) Error() string {
	if e.Deployed > e.Newest {
		return fmt.Sprintf("the deployed configuration has version %d, this operator knows none newer than %d: install the newer operator again", e.Deployed, e.Newest)
	}
	return fmt.Sprintf("the deployed configuration has version %d, this operator takes over versions %d to %d: install an operator in between first", e.Deployed, e.Oldest, e.Newest)
}

// IsUnsupportedVersion reports whether err is, or wraps, an UnsupportedVersionError.
func IsUnsupportedVersion(err error) bool {
	var u *UnsupportedVersionError
	return errors.As(err, &u)
}
