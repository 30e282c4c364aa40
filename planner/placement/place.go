package placement

import (
	"fmt"
	"slices"
)

// A Dir is a brick directory that may receive bricks: registered, mounted, on
// a healthy node that has joined.
type Dir struct {
	Node string
	Zone string // nodes of one zone must agree on it
	Root string
	// SizeBytes of the file system; 0 if not known, which counts as no room.
	SizeBytes uint64
	// Bricks and Arbiters that are on it or promised to it, of all volumes.
	Bricks, Arbiters int
}

// A Location is where a brick is.
type Location struct {
	Node string
	Root string
}

// A Request asks for a place for every brick of a volume.
type Request struct {
	Dirs []Dir // any order
	// Existing are the sets the volume has. They stay as they are, whether or
	// not their directories are among Dirs, and their bricks count in Dirs.
	Existing [][]Location
	Sets     int // wanted in all; fewer than exist gives those that exist
	SetSize  int // bricks of a set, at least 1
	Arbiters int // of these, 0 or 1: the last ones
	// Excluded says of nodes without a usable directory why that is; it only
	// goes into the error.
	Excluded []Exclusion
	Zones    []string // the volume is restricted to; only for the error
}

// An Exclusion is a node that cannot carry a brick.
type Exclusion struct {
	Node string
	Why  string
}

// Place gives every set of the volume, those that exist first. With too few
// nodes it gives a NotEnoughServersError and no set; a request that makes no
// sense is any other error.
func Place(r Request) ([][]Location, error) {
	if r.SetSize < 1 || r.Arbiters < 0 || r.Arbiters >= max(r.SetSize, 2) || r.Sets < 0 {
		return nil, fmt.Errorf("placing %d sets of %d bricks with %d arbiters: no such layout", r.Sets, r.SetSize, r.Arbiters)
	}
	sets := slices.Clone(r.Existing)
	if len(sets) >= r.Sets {
		return sets, nil
	}
	p, err := newPool(r)
	if err != nil {
		return nil, err
	}
	if n := len(p.nodes); n < r.SetSize {
		return nil, notEnough(r, p)
	}
	for len(sets) < r.Sets {
		sets = append(sets, p.place(r.SetSize, r.Arbiters))
	}
	return sets, nil
}
