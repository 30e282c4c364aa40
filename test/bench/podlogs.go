package main

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/gluster/anthill/executor/gate"
	kubernetes "github.com/gluster/anthill/test/cluster"
)

// copyLogs copies what gluster and the gate wrote down in a pod to a place.
func (f *farm) copyLogs(ctx context.Context, to place) error {
	in := kubernetes.PodRef{Namespace: namespace, Pod: to.name + "-0"}
	out, err := f.site.Env.Exec(ctx, in, "/bin/tar", "-C", "/", "-cf", "-", filepath.Join(gate.StateDir, "receipts")[1:])
	if err != nil {
		return err
	}
	files := tar.NewReader(bytes.NewReader(out))
	for {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("copying the receipts of %s: %w", to.name, err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		if !filepath.IsLocal(h.Name) {
			return fmt.Errorf("copying the receipts of %s: %q is no name below it", to.name, h.Name)
		}
		file := filepath.Join(to.root, h.Name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		raw, err := io.ReadAll(files)
		if err != nil {
			return fmt.Errorf("copying %q of %s: %w", h.Name, to.name, err)
		}
		if err := os.WriteFile(file, raw, 0o600); err != nil {
			return err
		}
	}
}
