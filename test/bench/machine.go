package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// Writing one page and making it durable is what everything durable costs at
// least; figures of two machines compare only beside it.
const (
	syncSamples = 500
	syncMax     = 4 * time.Second
)

// machine measures the disk.
func (b *bench) machine(ctx context.Context) error {
	b.sayf("a page written and made durable, up to %d times", syncSamples)
	dir, err := b.scratch("disk")
	if err != nil {
		return err
	}
	took, err := syncs(ctx, filepath.Join(dir, "file"))
	if err != nil {
		return err
	}
	if err := b.print(figure{name: "machine-fdatasync-p50", value: quantile(took, 0.5), unit: "us"}); err != nil {
		return err
	}
	return b.print(figure{name: "machine-fdatasync-p99", value: quantile(took, 0.99), unit: "us"})
}

func syncs(ctx context.Context, path string) (took []float64, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("measuring the disk: %w", err)
	}
	defer f.Close()
	page := make([]byte, 4096)
	// As the journal does it: in place, in a file that does not grow.
	if _, err := f.Write(make([]byte, 64*len(page))); err != nil {
		return nil, fmt.Errorf("measuring the disk: %w", err)
	}
	if err := f.Sync(); err != nil {
		return nil, fmt.Errorf("measuring the disk: %w", err)
	}
	for i, begun := 0, time.Now(); i < syncSamples && time.Since(begun) < syncMax; i++ {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		page[0] = byte(i)
		t := time.Now()
		if _, err := f.WriteAt(page, int64(i%64*len(page))); err != nil {
			return nil, fmt.Errorf("measuring the disk: %w", err)
		}
		if err := unix.Fdatasync(int(f.Fd())); err != nil {
			return nil, fmt.Errorf("measuring the disk: %w", err)
		}
		took = append(took, micros(time.Since(t)))
	}
	return took, nil
}
