package podexec

import "fmt"

// An UnreachableError: no command began in the container. It says why: the API
// server, the kubelet or the container's runtime refused, or was not reached.
type UnreachableError struct {
	Pod string // namespace/name
	Err error
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("running a command in pod %s: %v", e.Pod, e.Err)
}

// Unwrap returns the cause.
func (e *UnreachableError) Unwrap() error { return e.Err }

// NotStarted is true.
func (e *UnreachableError) NotStarted() bool { return true }
