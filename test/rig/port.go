package rig

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"syscall"
)

// Ports of operators: below those that the kernel gives to whoever asks for any,
// since one of these may be taken between being found free and being used.
const (
	portFirst = 10000
	portCount = 20000
)

var portNext atomic.Uint32

func init() { portNext.Store(rand.Uint32N(portCount)) } // other test programs run beside this one

// freePort finds an address on loopback nobody listens on, and that nobody else
// in this program is given soon.
func freePort() (string, error) {
	for range portCount {
		addr := fmt.Sprintf("127.0.0.1:%d", portFirst+portNext.Add(1)%portCount)
		l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", addr)
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("finding a port: %w", err)
		}
		return addr, l.Close()
	}
	return "", errors.New("finding a port: all are in use")
}
