package rig

import "runtime"

// lockThread keeps the calling goroutine on its thread until it ends, and the
// thread with it.
func lockThread() { runtime.LockOSThread() }
