package journalctl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/pflag"

	"github.com/gluster/anthill/cmd/anthill/cli"
	"github.com/gluster/anthill/journal"
)

// A source says which journal is meant and how long it may take.
type source struct {
	file    string
	socket  string
	timeout cli.Span
}

func (s *source) addFlags(f *pflag.FlagSet) {
	s.timeout = cli.Span(timeoutDefault)
	f.StringVar(&s.file, "file", "", "read this journal file, which nobody may be writing")
	f.StringVar(&s.socket, "socket", "", "ask the operator that listens on this socket")
	f.Var(&s.timeout, "timeout", "give up after this long (tail -f: to connect)")
}

func (s *source) validate() error {
	if s.file != "" && s.socket != "" {
		return cli.Usagef("--file and --socket are both given: one of them is accepted")
	}
	return nil
}

// journalPath is the journal file when neither flag names a source.
func journalPath(getenv func(string) string) string {
	if p := getenv(PathEnv); p != "" {
		return p
	}
	return DefaultPath
}

// An opened journal is a reader that knows which journal it reads.
type opened struct {
	journal.Reader
	info   journal.Info
	client *journal.Client // nil when the journal is a file
	socket string          // of client
}

// open opens the journal for reading: from the socket if somebody serves it,
// else from the file.
func (s *source) open(ctx context.Context, getenv func(string) string) (*opened, error) {
	if s.file != "" {
		return openFile(ctx, s.file)
	}
	o, err := s.dial(ctx, getenv)
	if err == nil || s.socket != "" || !errors.Is(err, journal.ErrUnavailable) {
		return o, err
	}
	p := journalPath(getenv)
	o, ferr := openFile(ctx, p)
	switch {
	case journal.IsLocked(ferr):
		return nil, cli.Errorf(cli.Unavailable, "%w, and over its socket: %w", ferr, err)
	case errors.Is(ferr, fs.ErrNotExist):
		return nil, cli.Errorf(cli.Unavailable, "no journal at %q: name its file with --file or %s, or its operator's socket with --socket", p, PathEnv)
	}
	return o, ferr
}

// dial opens the journal over its operator's socket.
func (s *source) dial(ctx context.Context, getenv func(string) string) (*opened, error) {
	socket := s.socket
	if socket == "" {
		socket = journal.SocketPath(journalPath(getenv))
	}
	c, err := journal.Dial(ctx, socket)
	if err != nil {
		return nil, classify(err)
	}
	o, err := inform(ctx, c)
	if err != nil {
		return nil, err
	}
	o.client, o.socket = c, socket
	return o, nil
}

func openFile(ctx context.Context, path string) (*opened, error) {
	// A pipe or a device would be waited for.
	if fi, err := os.Stat(path); err == nil && !fi.Mode().IsRegular() {
		return nil, cli.Usagef("%q is not a regular file", path)
	}
	r, err := journal.OpenReader(ctx, path)
	if err != nil {
		return nil, classify(err)
	}
	return inform(ctx, r)
}

func inform(ctx context.Context, r journal.Reader) (*opened, error) {
	info, err := r.Info(ctx)
	if err != nil {
		return nil, errors.Join(classify(err), r.Close())
	}
	return &opened{Reader: r, info: info}, nil
}

// note says on w what is being read.
func (o *opened) note(w io.Writer) {
	kind := "file"
	if o.client != nil {
		kind = "live"
	}
	// Nothing can be done about a closed standard error.
	_, _ = fmt.Fprintf(w, "# %s %s, head %d, epoch %d\n", kind, cli.Line(o.info.Path), o.info.Head.Seq, o.info.Epoch)
}

// metadata is the metadata of every document.
type metadata struct {
	Source    string        `json:"source"` // "live" or "file"
	Path      string        `json:"path"`
	JournalID string        `json:"journalID"`
	HeadSeq   journal.Seq   `json:"headSeq"`
	Epoch     journal.Epoch `json:"epoch"`
}

func (o *opened) metadata() metadata {
	i := o.info
	return metadata{Source: i.Source, Path: i.Path, JournalID: i.JournalID, HeadSeq: i.Head.Seq, Epoch: i.Epoch}
}

// apiVersion of the documents. Fields are only ever added to it.
const apiVersion = "journal.anthill.gluster.org/v1"
