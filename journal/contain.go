package journal

import (
	"fmt"
	"runtime/debug"
)

// contain runs fn and turns its panics into errors, faults on mapped memory
// included (a read error of the disk arrives as one). It covers fn's own
// goroutine only.
func contain(fn func() error) (err error) {
	old := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(old)
	defer func() {
		if p := recover(); p != nil {
			err = &CorruptError{What: fmt.Sprintf("reading it failed: %v", p)}
		}
	}()
	return fn()
}
