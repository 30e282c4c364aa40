package probe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// What is sent to glusterd's socket: one call of ONC RPC (RFC 5531), as the
// gluster command makes it for "volume list". glusterd answers it from memory,
// under the lock that guards its memory and that no transaction keeps while it
// waits for a peer: a glusterd that answers is not stuck. It writes nothing
// about it to its logs, as it does for the list of peers.
const (
	rpcVersion    = 2
	programCLI    = 1238463
	versionCLI    = 2
	procVolumes   = 33
	lastFragment  = 1 << 31
	replyBytesMax = 16 << 20
)

var errStrange = errors.New("the answer is none")

// call makes the request with this id.
func call(xid uint32) []byte {
	words := []uint32{
		xid, 0, rpcVersion, programCLI, versionCLI, procVolumes,
		0, 0, // no credentials
		0, 0, // no verifier
		0, // an empty dictionary
	}
	b := make([]byte, 0, 4*(len(words)+1))
	b = binary.BigEndian.AppendUint32(b, lastFragment|uint32(4*len(words)))
	for _, w := range words {
		b = binary.BigEndian.AppendUint32(b, w)
	}
	return b
}

// answered reads the head of the reply: that there is one is what counts.
func answered(r io.Reader, xid uint32) error {
	var head [4 * 7]byte // marker, xid, reply, accepted, verifier (2), outcome
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	word := func(i int) uint32 { return binary.BigEndian.Uint32(head[4*i:]) }
	const reply, accepted, success = 1, 0, 0
	switch {
	case word(0)&^lastFragment > replyBytesMax, word(1) != xid, word(2) != reply:
		return errStrange
	case word(3) != accepted, word(5) != 0:
		return errors.New("glusterd does not accept the question")
	case word(6) != success:
		return fmt.Errorf("glusterd answers with RPC status %d", word(6))
	}
	return nil
}
