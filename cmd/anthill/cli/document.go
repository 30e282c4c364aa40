package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/yaml"
)

// A Document writes the machine's formats: one JSON or YAML document with
// apiVersion, kind, metadata and items, or the bare items as lines of JSON
// (ndjson) or as names. Items are written as they come, so that a document may
// be larger than memory.
type Document struct {
	w      io.Writer
	format string
	items  int
}

// NewDocument begins a document. metadata marshals to a JSON object; it is not
// part of ndjson and name.
func NewDocument(w io.Writer, format, apiVersion, kind string, metadata any) (*Document, error) {
	d := &Document{w: w, format: format}
	switch format {
	case FormatJSON:
		m, err := indented(metadata, "  ")
		if err != nil {
			return nil, err
		}
		_, err = fmt.Fprintf(w, "{\n  \"apiVersion\": %q,\n  \"kind\": %q,\n  \"metadata\": %s,\n  \"items\": [", apiVersion, kind, m)
		return d, err
	case FormatYAML:
		m, err := yaml.Marshal(map[string]any{"metadata": metadata})
		if err != nil {
			return nil, fmt.Errorf("encoding metadata: %w", err)
		}
		_, err = fmt.Fprintf(w, "apiVersion: %s\nkind: %s\n%sitems:", apiVersion, kind, m)
		return d, err
	case FormatNDJSON, FormatName:
		return d, nil
	}
	return nil, fmt.Errorf("format %q is not a document", format)
}

// Item adds one item; name is what the name format prints of it.
func (d *Document) Item(name string, item any) error {
	d.items++
	switch d.format {
	case FormatName:
		_, err := fmt.Fprintln(d.w, name)
		return err
	case FormatNDJSON:
		b, err := marshal(item)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(d.w, "%s\n", b)
		return err
	case FormatYAML:
		b, err := yaml.Marshal([]any{item})
		if err != nil {
			return fmt.Errorf("encoding item: %w", err)
		}
		_, err = fmt.Fprintf(d.w, "\n%s", strings.TrimRight(string(b), "\n"))
		return err
	}
	b, err := indented(item, "    ")
	if err != nil {
		return err
	}
	sep := ","
	if d.items == 1 {
		sep = ""
	}
	_, err = fmt.Fprintf(d.w, "%s\n    %s", sep, b)
	return err
}

// Close ends the document.
func (d *Document) Close() error {
	end := ""
	switch {
	case d.format == FormatJSON && d.items == 0:
		end = "]\n}\n"
	case d.format == FormatJSON:
		end = "\n  ]\n}\n"
	case d.format == FormatYAML && d.items == 0:
		end = " []\n"
	case d.format == FormatYAML:
		end = "\n"
	}
	_, err := io.WriteString(d.w, end)
	return err
}

// marshal is json.Marshal that leaves <, > and & alone: nobody reads this in a
// web page, and people read it in a terminal.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encoding item: %w", err)
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

func indented(v any, prefix string) ([]byte, error) {
	raw, err := marshal(v)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, raw, prefix, "  "); err != nil {
		return nil, fmt.Errorf("encoding item: %w", err)
	}
	return b.Bytes(), nil
}

// WriteObject writes one value as JSON or YAML, for what is no list.
func WriteObject(w io.Writer, format string, v any) error {
	var (
		b   []byte
		err error
	)
	if format == FormatYAML {
		b, err = yaml.Marshal(v)
	} else {
		b, err = indented(v, "")
		b = append(b, '\n')
	}
	if err != nil {
		return fmt.Errorf("encoding output: %w", err)
	}
	_, err = w.Write(b)
	return err
}
