package controller

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/go-multierror" //nolint:depguard // one object that fails must not hide what fails with the others
)

// failuresShown is how many failures of one cycle are told in its error.
const failuresShown = 5

// failures collects what went wrong with several objects of one cycle, so that
// one broken object hides nothing about the others. Add and err are for one
// goroutine.
type failures struct{ all *multierror.Error }

func (f *failures) add(errs ...error) { f.all = multierror.Append(f.all, errs...) }

// err is nil if nothing went wrong. errors.Is and errors.As see every failure.
func (f *failures) err() error {
	if f.all == nil {
		return nil
	}
	f.all.ErrorFormat = oneLine
	return f.all.ErrorOrNil()
}

// oneLine tells failures in one line for a log or a condition: sorted, so that
// the same failures read the same, each once, and not more than failuresShown.
func oneLine(errs []error) string {
	var texts []string
	for _, err := range errs {
		texts = append(texts, err.Error())
	}
	slices.Sort(texts)
	texts = slices.Compact(texts)
	if more := len(texts) - failuresShown; more > 0 {
		texts = append(texts[:failuresShown], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, "; ")
}
