package node

import (
	"errors"
	"testing"
)

func TestRunIsForTheFirstProcess(t *testing.T) {
	if err := Run(t.Context(), Options{}); !errors.Is(err, errNotFirst) {
		t.Errorf("got %v", err)
	}
}
