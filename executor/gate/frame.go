package gate

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// Errors of Decode.
var (
	// ErrNoFrame: the stream ended, or grew too long, without the start of a reply.
	ErrNoFrame = errors.New("no reply in the output")
	// ErrCutFrame: a reply began and is incomplete or damaged.
	ErrCutFrame = errors.New("the reply is cut or damaged")
)

// A frame is a line "ANTHILL-GATE/1 <8 hex length> <8 hex crc32c>" and that
// many bytes. A login shell may print before it, hence the blank line in front
// and a mark that nothing prints by accident; the checksum tells a whole reply
// from one that was cut.
const (
	frameMark    = "ANTHILL-GATE/1 "
	frameHeader  = len(frameMark) + 8 + 1 + 8 + 1
	junkBytesMax = 256 << 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Encode writes rep to w as one frame, in one Write. A reply that is too large
// is replaced by one that says so.
func Encode(w io.Writer, rep Reply) error {
	body, err := json.Marshal(rep)
	if err == nil && len(body) > ReplyBytesMax {
		body, err = json.Marshal(Reply{
			Version: ProtocolVersion, Exit: ExitFailed, Reason: ReasonState,
			Error: fmt.Sprintf("the reply of %d bytes is larger than %d", len(body), ReplyBytesMax),
		})
	}
	if err != nil {
		return fmt.Errorf("encoding reply: %w", err)
	}
	var b bytes.Buffer
	b.Grow(len(body) + frameHeader + 2)
	fmt.Fprintf(&b, "\n%s%08x %08x\n", frameMark, len(body), crc32.Checksum(body, castagnoli))
	b.Write(body)
	b.WriteByte('\n')
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("writing reply: %w", err)
	}
	return nil
}

// Decode reads the first frame of r, skipping up to 256 KiB before it. The
// error wraps ErrNoFrame, ErrCutFrame, or is that of r.
func Decode(r io.Reader) (Reply, error) {
	br := bufio.NewReaderSize(r, 64<<10)
	if err := skipToMark(br); err != nil {
		return Reply{}, err
	}
	head := make([]byte, frameHeader-len(frameMark))
	if _, err := io.ReadFull(br, head); err != nil {
		return Reply{}, cut(err)
	}
	var size, sum uint32
	if n, err := fmt.Sscanf(string(head), "%08x %08x\n", &size, &sum); n != 2 || err != nil {
		return Reply{}, fmt.Errorf("%w: header %q", ErrCutFrame, head)
	}
	if size > ReplyBytesMax {
		return Reply{}, fmt.Errorf("%w: length %d", ErrCutFrame, size)
	}
	// Grown as the bytes come: a damaged length must not cost memory.
	var b bytes.Buffer
	if _, err := io.CopyN(&b, br, int64(size)); err != nil {
		return Reply{}, cut(err)
	}
	body := b.Bytes()
	if got := crc32.Checksum(body, castagnoli); got != sum {
		return Reply{}, fmt.Errorf("%w: checksum %08x, want %08x", ErrCutFrame, got, sum)
	}
	var rep Reply
	if err := json.Unmarshal(body, &rep); err != nil {
		return Reply{}, fmt.Errorf("%w: %w", ErrCutFrame, err)
	}
	return rep, nil
}

func cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrCutFrame
	}
	return fmt.Errorf("%w: %w", ErrCutFrame, err)
}

// skipToMark reads up to and including the mark at the start of a line.
func skipToMark(br *bufio.Reader) error {
	matched, prev := 0, byte('\n')
	for range junkBytesMax + len(frameMark) {
		c, err := br.ReadByte()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return ErrNoFrame
			}
			return fmt.Errorf("%w: %w", ErrNoFrame, err)
		}
		switch {
		case c == frameMark[matched] && (matched > 0 || prev == '\n'):
			matched++
		case c == frameMark[0] && prev == '\n':
			matched = 1
		default:
			matched = 0
		}
		if matched == len(frameMark) {
			return nil
		}
		prev = c
	}
	return fmt.Errorf("%w: more than %d bytes before it", ErrNoFrame, junkBytesMax)
}
