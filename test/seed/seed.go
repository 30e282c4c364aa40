// Package seed says how much of what is random a test tries, and from where.
//
//	ANTHILL_TEST_FULL=1  whole matrices instead of seeded parts
//	ANTHILL_TEST_SEED=N  the same choices as the run that printed N
package seed

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

const (
	fullVariable = "ANTHILL_TEST_FULL"
	seedVariable = "ANTHILL_TEST_SEED"
)

// Full reports whether everything is to be run, and not only a part.
func Full() bool { return os.Getenv(fullVariable) == "1" }

// Given returns the seed that somebody asks for, if there is one.
func Given(t testing.TB) (seed uint64, ok bool) {
	t.Helper()
	text := os.Getenv(seedVariable)
	if text == "" {
		return 0, false
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s is %q, a number is accepted", seedVariable, text)
	}
	return seed, true
}

// Rand returns a source of randomness whose seed is printed, and can be given
// again.
func Rand(t testing.TB) *rand.Rand {
	t.Helper()
	n, ok := Given(t)
	if !ok {
		n = rand.Uint64() >> 32
	}
	t.Logf("seed: %s=%d", seedVariable, n)
	return rand.New(rand.NewPCG(n, 1)) //nolint:gosec // a test's choices
}
