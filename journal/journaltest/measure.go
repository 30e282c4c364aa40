package journaltest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/gluster/anthill/journal"
)

// ID is a version 7 UUID whose order is n's.
func ID(n int) journal.OpID {
	var id journal.OpID
	binary.BigEndian.PutUint32(id[:], uint32(n))
	id[6], id[8] = 0x70, 0x80
	return id
}

// Life is the events of a whole operation of three steps, 9 in number; open
// leaves out its end.
func Life(n int, open bool) ([]journal.Event, error) {
	plan := journal.Plan{
		Kind: "add-brick", Scope: fmt.Sprint("pool-", n), Object: "GlusterVolume/default/v1", Target: "volume/v1",
		Reason: journal.Reason{Action: "volumeGrown", Difference: "1 set, wants 2", Generation: 4},
		Intent: fmt.Sprintf("%064x", n),
		Locks:  []string{"volume:v1/layout"},
		Steps: []journal.Step{
			{ID: "guard", Name: "heal-guard@1", Stage: journal.Waiting},
			{ID: "add", Name: "add-brick@1", Stage: journal.Pivot, Params: []byte(`{"volume":"v1","bricks":["n1:/bricks/a/v1/2-0/brick","n2:/bricks/a/v1/2-1/brick","n3:/bricks/a/v1/2-2/brick"]}`)},
			{ID: "rebalance", Name: "rebalance@1", Stage: journal.Retriable},
		},
	}
	var evs []journal.Event
	var failed error
	add := func(t journal.Type, step string, data any) {
		ev, err := journal.New(t, ID(n), data)
		failed = errors.Join(failed, err)
		if ev.Step = step; step != "" {
			ev.Attempt = 1
		}
		ev.Actor = "executor"
		evs = append(evs, ev)
	}
	add(journal.OpPlanned, "", plan)
	add(journal.OpStarted, "", nil)
	for _, s := range plan.Steps {
		add(journal.StepStarted, s.ID, journal.Started{AttemptID: "7-" + s.ID + "-1", Originator: "n1", Argv: []string{"volume", "add-brick", "v1", "n1:/bricks/a/v1/2-0/brick", "n2:/bricks/a/v1/2-1/brick", "n3:/bricks/a/v1/2-2/brick"}})
		if open && s.ID == "rebalance" {
			return evs, failed
		}
		add(journal.StepSucceeded, s.ID, journal.Succeeded{Message: "6 bricks, all on line"})
	}
	add(journal.OpCompleted, "", journal.Completed{})
	return evs, failed
}

// Fill appends operations until the journal holds at least n events; the last
// open ones of them have not ended.
func Fill(ctx context.Context, j *journal.Journal, n, open int) error {
	for op := 1; j.Head().Seq < journal.Seq(n); {
		var batch []journal.Event
		for len(batch) < journal.AppendEventsMax-9 && int(j.Head().Seq)+len(batch) < n {
			left := n - int(j.Head().Seq) - len(batch)
			evs, err := Life(op, left <= 7*open)
			if err != nil {
				return err
			}
			batch = append(batch, evs...)
			op++
		}
		if _, err := j.Append(ctx, journal.Guard{}, batch...); err != nil {
			return fmt.Errorf("filling the journal: %w", err)
		}
	}
	return nil
}

// opened opens a journal in dir with an epoch and one operation whose first
// step waits, and returns an event of that step: of 64 operations, that of the
// i-th.
func opened(ctx context.Context, dir string) (*journal.Journal, []journal.Event, error) {
	j, err := journal.Open(ctx, filepath.Join(dir, "journal.db"), journal.Options{})
	if err != nil {
		return nil, nil, err
	}
	if _, err := j.OpenEpoch(ctx, journal.Opened{Instance: "bench"}); err != nil {
		return nil, nil, errors.Join(err, j.Close())
	}
	var evs []journal.Event
	for n := 1; n <= Producers; n++ {
		life, err := Life(n, true)
		if err == nil {
			_, err = j.Append(ctx, journal.Guard{}, life[:3]...)
		}
		ev, nerr := journal.New(journal.StepProgress, ID(n), journal.Progress{
			Percent: 40, Message: "waiting for heal: 1234 entries pending on n2:/bricks/b1, 34 on n3:/bricks/b1, none on n1:/bricks/b1; the crawl of 12:04:11 has not ended",
		})
		if err := errors.Join(err, nerr); err != nil {
			return nil, nil, errors.Join(err, j.Close())
		}
		ev.Step, ev.Attempt, ev.Actor = "guard", 1, "executor"
		evs = append(evs, ev)
	}
	return j, evs, nil
}

// Producers is the number of concurrent callers that are measured.
const Producers = 64

// A Plain is what the journal is measured against: one bucket of bbolt with the
// journal's options and a value as large as an event.
type Plain struct {
	db *bolt.DB

	seq uint64
	val []byte
}

var plainBucket = []byte("ev")

// OpenPlain makes one in dir for values of size bytes.
func OpenPlain(dir string, size int) (*Plain, error) {
	db, err := bolt.Open(filepath.Join(dir, "plain.db"), 0o600, &bolt.Options{
		PageSize: 4096, NoFreelistSync: true, FreelistType: bolt.FreelistMapType, InitialMmapSize: 1 << 30,
	})
	if err != nil {
		return nil, fmt.Errorf("opening a plain database: %w", err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		_, err := tx.CreateBucket(plainBucket)
		return err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("making its bucket: %w", err), db.Close())
	}
	return &Plain{db: db, val: make([]byte, size)}, nil
}

// Update is one transaction with one value. Safe for concurrent use.
func (p *Plain) Update() error {
	return p.db.Update(func(tx *bolt.Tx) error {
		p.seq++ // bbolt admits one writer at a time
		b := tx.Bucket(plainBucket)
		b.FillPercent = 0.95
		return b.Put(binary.BigEndian.AppendUint64(nil, p.seq), p.val)
	})
}

// Close closes it.
func (p *Plain) Close() error { return p.db.Close() }

// Latency appends n events one after the other and makes as many plain updates,
// in turn, and returns the median of each.
func Latency(ctx context.Context, dir string, n int) (appended, plain time.Duration, err error) {
	j, evs, err := opened(ctx, dir)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	size := evs[0].StoredSize()
	p, err := OpenPlain(dir, size)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	as, ps := make([]time.Duration, n), make([]time.Duration, n)
	for i := range n {
		t0 := time.Now()
		if _, err := j.Append(ctx, journal.Guard{}, evs[0]); err != nil {
			return 0, 0, err
		}
		t1 := time.Now()
		if err := p.Update(); err != nil {
			return 0, 0, err
		}
		as[i], ps[i] = t1.Sub(t0), time.Since(t1)
	}
	slices.Sort(as)
	slices.Sort(ps)
	return as[n/2], ps[n/2], nil
}

// Throughput lets Producers callers append to operations of their own, each
// append n/Producers times, then as many callers make plain updates, a sixteenth
// as many. It returns both rates per second.
func Throughput(ctx context.Context, dir string, n int) (appends, plain float64, err error) {
	j, evs, err := opened(ctx, dir)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	appends, err = rate(n, func(i int) error {
		_, err := j.Append(ctx, journal.Guard{}, evs[i])
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	p, err := OpenPlain(dir, evs[0].StoredSize())
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	plain, err = rate(n/16, func(int) error { return p.Update() })
	return appends, plain, err
}

// rate calls fn about n times from Producers goroutines.
func rate(n int, fn func(i int) error) (float64, error) {
	each := max(1, n/Producers)
	errs := make([]error, Producers)
	begun := time.Now()
	var wg sync.WaitGroup
	for i := range Producers {
		wg.Go(func() {
			for range each {
				if errs[i] = fn(i); errs[i] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return float64(each*Producers) / time.Since(begun).Seconds(), errors.Join(errs...)
}

// Opening fills a journal in dir with n events, ten operations open, and returns
// how long it takes to open and verify it again (the best of tries), and the
// bytes of the file.
func Opening(ctx context.Context, dir string, n, tries int) (took time.Duration, size int64, err error) {
	path := filepath.Join(dir, fmt.Sprintf("open-%d.db", n))
	j, err := journal.Open(ctx, path, journal.Options{})
	if err != nil {
		return 0, 0, err
	}
	_, err = j.OpenEpoch(ctx, journal.Opened{Instance: "bench"})
	if err == nil {
		err = Fill(ctx, j, n, 10)
	}
	if err := errors.Join(err, j.Close()); err != nil {
		return 0, 0, err
	}
	for i := range tries {
		begun := time.Now()
		j, err := journal.Open(ctx, path, journal.Options{})
		if err != nil {
			return 0, 0, err
		}
		if d := time.Since(begun); i == 0 || d < took {
			took = d
		}
		if err := j.Close(); err != nil {
			return 0, 0, err
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, 0, fmt.Errorf("reading the journal's size: %w", err)
	}
	return took, info.Size(), nil
}
