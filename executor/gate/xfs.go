package gate

import (
	"bytes"
	"io"
)

// Offsets in the superblock of XFS, which is in the first sector.
const (
	xfsMagic        = "XFSB"
	xfsUUIDAt       = 32
	xfsLabelAt      = 108
	xfsLabelLen     = 12
	xfsInProgressAt = 126
	xfsHeadLen      = 128
)

// An xfsHead is what the first sector of an XFS says of it.
type xfsHead struct {
	uuid, label string
	// unfinished: mkfs.xfs began and did not come to its end. It sets this with
	// the first thing it writes that is not zero, and clears it with the last.
	unfinished bool
}

// readXFS reads the superblock of an XFS; false if there is none.
func readXFS(r io.ReaderAt) (xfsHead, bool, error) {
	b := make([]byte, xfsHeadLen)
	if _, err := r.ReadAt(b, 0); err != nil {
		return xfsHead{}, false, err
	}
	if string(b[:len(xfsMagic)]) != xfsMagic {
		return xfsHead{}, false, nil
	}
	label, _, _ := bytes.Cut(b[xfsLabelAt:xfsLabelAt+xfsLabelLen], []byte{0})
	return xfsHead{
		uuid: formatUUID([16]byte(b[xfsUUIDAt : xfsUUIDAt+16])), label: string(label), unfinished: b[xfsInProgressAt] != 0,
	}, true, nil
}
