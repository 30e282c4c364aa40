package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/gluster/anthill/journal"
	"github.com/gluster/anthill/journal/journaltest"
)

const (
	appendRounds   = 5
	appendSamples  = 200 // of each, in turn, in a round
	produceRounds  = 9
	produceAppends = 64 * 50 // of a round
	openTries      = 7
	// A round that is slow is not repeated for ever: after roundsMax a figure has
	// the rounds it has, at least roundsMin.
	roundsMin = 3
	roundsMax = 6 * time.Second
	openOps   = 10 // operations that have not ended
)

// appends measures one caller against plain updates of as many bytes.
func (b *bench) appends(ctx context.Context) error {
	b.sayf("appends and plain updates in turn, %d rounds of %d", appendRounds, appendSamples)
	var values, ratios []float64
	for more := rounds(appendRounds); more(); {
		dir, err := b.scratch("append")
		if err != nil {
			return err
		}
		appended, plain, err := journaltest.Latency(ctx, dir, appendSamples)
		if err != nil {
			return fmt.Errorf("measuring appends: %w", err)
		}
		values = append(values, micros(appended))
		ratios = append(ratios, float64(appended)/float64(plain))
	}
	return b.print(figure{
		name: "append-p50", value: median(values), unit: "us", ratio: median(ratios),
		target: target{relation: atMost, limit: 1.3, ratio: true},
	})
}

// producers measures many callers, which share commits, against as many that
// make plain updates.
func (b *bench) producers(ctx context.Context) error {
	b.sayf("%d producers, %d rounds of %d appends", journaltest.Producers, produceRounds, produceAppends)
	var values, ratios []float64
	for more := rounds(produceRounds); more(); {
		dir, err := b.scratch("produce")
		if err != nil {
			return err
		}
		appended, plain, err := journaltest.Throughput(ctx, dir, produceAppends)
		if err != nil {
			return fmt.Errorf("measuring %d producers: %w", journaltest.Producers, err)
		}
		values = append(values, appended)
		ratios = append(ratios, appended/plain)
	}
	return b.print(figure{
		name: fmt.Sprintf("append-%d-producers", journaltest.Producers), value: median(values), unit: "events/s", ratio: median(ratios),
		target: target{relation: atLeast, limit: 15, ratio: true},
	})
}

// opening measures how long it takes to open and verify a journal, and how much
// memory that leaves in use.
func (b *bench) opening(ctx context.Context) error {
	for _, size := range []struct {
		events int
		name   string
		target target
	}{
		{1_000, "open-1k-events", target{}},
		{10_000, "open-10k-events", target{}},
		{100_000, "open-100k-events", target{relation: atMost, limit: 200}},
	} {
		b.sayf("opening and verifying %d events, %d times", size.events, openTries)
		dir, err := b.scratch("open")
		if err != nil {
			return err
		}
		path := filepath.Join(dir, "journal.db")
		if err := fill(ctx, path, size.events); err != nil {
			return err
		}
		took, err := opens(ctx, path)
		if err != nil {
			return err
		}
		if err := b.print(figure{name: size.name, value: median(took), unit: "ms", target: size.target}); err != nil {
			return err
		}
		if size.target == (target{}) {
			continue
		}
		if err := b.memory(ctx, path); err != nil {
			return err
		}
	}
	return nil
}

// rounds returns a function that is true for so many rounds, or fewer when they
// take long.
func rounds(most int) func() bool {
	begun, n := time.Now(), 0
	return func() bool {
		n++
		return n <= roundsMin || n <= most && time.Since(begun) < roundsMax
	}
}

// fill makes a journal of so many events.
func fill(ctx context.Context, path string, events int) (err error) {
	j, err := journal.Open(ctx, path, journal.Options{})
	if err != nil {
		return fmt.Errorf("filling a journal: %w", err)
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	if _, err := j.OpenEpoch(ctx, journal.Opened{Instance: "bench"}); err != nil {
		return fmt.Errorf("filling a journal: %w", err)
	}
	return journaltest.Fill(ctx, j, events, openOps)
}

// opens opens a journal again and again and tells how long each took, in ms.
func opens(ctx context.Context, path string) (took []float64, err error) {
	for more := rounds(openTries); more(); {
		begun := time.Now()
		j, err := journal.Open(ctx, path, journal.Options{})
		if err != nil {
			return nil, fmt.Errorf("opening a journal: %w", err)
		}
		took = append(took, millis(time.Since(begun)))
		if err := j.Close(); err != nil {
			return nil, fmt.Errorf("closing a journal: %w", err)
		}
	}
	return took, nil
}
