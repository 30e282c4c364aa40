package rig

import (
	"net"
	"testing"
)

func TestFreePort(t *testing.T) {
	seen := map[string]bool{}
	for range 50 {
		addr, err := freePort()
		if err != nil {
			t.Fatal(err)
		}
		if seen[addr] {
			t.Errorf("%s was given twice", addr)
		}
		seen[addr] = true
		l, err := net.Listen("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
	}
}
