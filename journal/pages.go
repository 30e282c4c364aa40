package journal

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"os"

	"golang.org/x/sys/unix"
)

// bbolt trusts its pages: on a damaged file it panics in goroutines of its
// own, loops for ever, or faults beyond the end of its mapping. So the tree is
// walked here first, bounded and with every offset checked, and bbolt sees a
// file only if nothing it relies on is broken. The layout is bbolt's, version
// 2, in the byte order of the machine.

const (
	boltMagic    = 0xED0CDAED
	boltVersion  = 2
	noFreelist   = ^uint64(0)
	pageHeader   = 16
	elemSize     = 16 // of branch and leaf elements alike
	bucketHeader = 16
	depthMax     = 24 // a tree of 2^48 pages with two keys each is shallower

	flagBranch = 0x01
	flagLeaf   = 0x02
	flagMeta   = 0x04
	flagBucket = 0x01 // of a leaf element
)

// pageStats are what the walk learned.
type pageStats struct {
	txid  uint64
	pages uint64 // below the high water mark
	used  uint64 // reachable, with the two meta pages
}

// A boltMeta is one meta page.
type boltMeta struct {
	root, freelist, pages, txid uint64
}

// readBoltMeta checks meta page n.
func readBoltMeta(b []byte, n int) (m boltMeta, err error) {
	ne := binary.NativeEndian
	p := b[pageHeader:]
	h := fnv.New64a()
	_, _ = h.Write(p[:56]) // a hash never fails
	switch {
	case ne.Uint32(p) != boltMagic || ne.Uint32(p[4:]) != boltVersion:
		return m, fmt.Errorf("meta page %d is not one of bbolt's, version 2", n)
	case ne.Uint64(p[56:]) != h.Sum64():
		return m, fmt.Errorf("meta page %d does not match its checksum", n)
	case ne.Uint32(p[8:]) != pageSize:
		return m, fmt.Errorf("meta page %d tells a page size of %d", n, ne.Uint32(p[8:]))
	case ne.Uint64(b) != uint64(n) || ne.Uint16(b[8:]) != flagMeta:
		return m, fmt.Errorf("page %d does not call itself a meta page", n)
	}
	return boltMeta{root: ne.Uint64(p[16:]), freelist: ne.Uint64(p[32:]), pages: ne.Uint64(p[40:]), txid: ne.Uint64(p[48:])}, nil
}

// A walker checks the pages of one file.
type walker struct {
	data  []byte
	pages uint64
	seen  []uint64 // bit set of pages that are referred to
	used  uint64
}

// checkPages checks the structure of the file: both meta pages, and every page
// that the newer one reaches. The file must not shrink meanwhile (its lock is
// held). The error is a *CorruptError, or the system's.
func checkPages(f *os.File) (st pageStats, err error) {
	corrupt := func(format string, args ...any) error {
		return &CorruptError{Path: f.Name(), What: fmt.Sprintf(format, args...)}
	}
	info, err := f.Stat()
	if err != nil {
		return st, fmt.Errorf("reading the size of %q: %w", f.Name(), err)
	}
	if info.Size() < 4*pageSize {
		return st, corrupt("it has %d bytes, fewer than an empty journal", info.Size())
	}
	var head [2 * pageSize]byte
	if _, err := f.ReadAt(head[:], 0); err != nil {
		return st, fmt.Errorf("reading the meta pages of %q: %w", f.Name(), err)
	}
	var m [2]boltMeta
	for i := range m {
		// Both must be good: a damaged one may have been the newest commit,
		// and bbolt would fall back to the one before without a word.
		if m[i], err = readBoltMeta(head[i*pageSize:], i); err != nil {
			return st, corrupt("%v", err)
		}
	}
	now := m[0]
	if m[1].txid > now.txid {
		now = m[1]
	}
	switch {
	case m[0].txid == m[1].txid:
		return st, corrupt("both meta pages are of transaction %d", now.txid)
	case now.freelist != noFreelist:
		return st, corrupt("it holds a list of free pages, which a journal never does")
	case now.pages < 4 || now.pages > uint64(info.Size()/pageSize):
		return st, corrupt("it has %d bytes where %d pages of %d are in use: it was cut short", info.Size(), now.pages, pageSize)
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(now.pages*pageSize), unix.PROT_READ, unix.MAP_SHARED|unix.MAP_POPULATE)
	if err != nil {
		return st, fmt.Errorf("mapping %q: %w", f.Name(), err)
	}
	defer func() { _ = unix.Munmap(data) }() // read only, nothing to lose
	w := &walker{data: data, pages: now.pages, seen: make([]uint64, now.pages/64+1), used: 2}
	err = contain(func() error { return w.buckets(now.root) })
	if err != nil {
		return st, corrupt("%v", err)
	}
	return pageStats{txid: now.txid, pages: now.pages, used: w.used}, nil
}

// A page is one page with its overflow.
type page struct {
	id    uint64
	leaf  bool
	count int
	b     []byte
}

func (p *page) u32(off int) uint64 { return uint64(binary.NativeEndian.Uint32(p.b[off:])) }

// page checks the header of page id and marks it as referred to.
func (w *walker) page(id uint64) (p page, err error) {
	if id < 2 || id >= w.pages {
		return p, fmt.Errorf("a reference to page %d of %d", id, w.pages)
	}
	ne := binary.NativeEndian
	b := w.data[id*pageSize:]
	over := uint64(ne.Uint32(b[12:]))
	switch {
	case ne.Uint64(b) != id:
		return p, fmt.Errorf("page %d calls itself %d", id, ne.Uint64(b))
	case over >= w.pages-id:
		return p, fmt.Errorf("page %d is %d pages long and reaches past the end", id, over+1)
	}
	for i := id; i <= id+over; i++ {
		if w.seen[i/64]&(1<<(i%64)) != 0 {
			return p, fmt.Errorf("page %d is used twice", i)
		}
		w.seen[i/64] |= 1 << (i % 64)
	}
	w.used += over + 1
	return newPage(id, b[:(over+1)*pageSize])
}

// newPage checks that the elements of a page lie within it.
func newPage(id uint64, b []byte) (p page, err error) {
	ne := binary.NativeEndian
	flags := ne.Uint16(b[8:])
	p = page{id: id, leaf: flags == flagLeaf, count: int(ne.Uint16(b[10:])), b: b}
	if flags != flagLeaf && flags != flagBranch {
		return p, fmt.Errorf("page %d is of unknown kind %#x", id, flags)
	}
	first := pageHeader + p.count*elemSize
	if first > len(b) {
		return p, fmt.Errorf("page %d cannot hold %d elements", id, p.count)
	}
	for i := range p.count {
		off := pageHeader + i*elemSize
		pos, ksize, vsize := p.u32(off), p.u32(off+4), uint64(0)
		if p.leaf {
			pos, ksize, vsize = p.u32(off+4), p.u32(off+8), p.u32(off+12)
		}
		start := uint64(off) + pos
		if ksize == 0 || start < uint64(first) || start+ksize+vsize > uint64(len(b)) {
			return p, fmt.Errorf("element %d of page %d lies outside it", i, id)
		}
	}
	return p, nil
}

func (p *page) key(i int) []byte {
	off := pageHeader + i*elemSize
	if p.leaf {
		start := uint64(off) + p.u32(off+4)
		return p.b[start : start+p.u32(off+8)]
	}
	start := uint64(off) + p.u32(off)
	return p.b[start : start+p.u32(off+4)]
}

func (p *page) value(i int) []byte {
	off := pageHeader + i*elemSize
	start := uint64(off) + p.u32(off+4) + p.u32(off+8)
	return p.b[start : start+p.u32(off+12)]
}

func (p *page) child(i int) uint64 {
	return binary.NativeEndian.Uint64(p.b[pageHeader+i*elemSize+8:])
}

func (p *page) bucket(i int) bool {
	return p.u32(pageHeader+i*elemSize) == flagBucket
}

// ordered checks that the keys ascend and lie in [lo, hi); nil is unbounded.
func (p *page) ordered(lo, hi []byte) error {
	for i := range p.count {
		k := p.key(i)
		if i == 0 && lo != nil && bytes.Compare(k, lo) < 0 || i > 0 && bytes.Compare(p.key(i-1), k) >= 0 {
			return fmt.Errorf("the keys of page %d are out of order at %d", p.id, i)
		}
	}
	if p.count > 0 && hi != nil && bytes.Compare(p.key(p.count-1), hi) >= 0 {
		return fmt.Errorf("the last key of page %d belongs elsewhere", p.id)
	}
	return nil
}

// buckets walks the root bucket, which holds buckets only, and each of them.
func (w *walker) buckets(root uint64) error {
	type bucket struct {
		name string
		root uint64
	}
	var found []bucket
	err := w.tree(root, func(p *page) error {
		for i := range p.count {
			v := p.value(i)
			if !p.bucket(i) || len(v) < bucketHeader {
				return fmt.Errorf("element %d of page %d is no bucket", i, p.id)
			}
			name := string(p.key(i))
			if sub := binary.NativeEndian.Uint64(v); sub != 0 {
				found = append(found, bucket{name, sub})
			} else if err := inline(v[bucketHeader:]); err != nil {
				return fmt.Errorf("bucket %q: %w", name, err)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("root: %w", err)
	}
	for _, b := range found {
		if err := w.tree(b.root, plainLeaf); err != nil {
			return fmt.Errorf("bucket %q: %w", b.name, err)
		}
	}
	return nil
}

// plainLeaf refuses buckets in buckets: a journal has none.
func plainLeaf(p *page) error {
	for i := range p.count {
		if p.u32(pageHeader+i*elemSize) != 0 {
			return fmt.Errorf("element %d of page %d is of unknown kind", i, p.id)
		}
	}
	return nil
}

// inline checks a bucket that is kept in its parent's value.
func inline(b []byte) error {
	if len(b) < pageHeader {
		return fmt.Errorf("its value is cut short")
	}
	p, err := newPage(0, b)
	if err != nil {
		return err
	}
	if !p.leaf {
		return fmt.Errorf("its value is no leaf")
	}
	if err := p.ordered(nil, nil); err != nil {
		return err
	}
	return plainLeaf(&p)
}

// tree walks one bucket's pages and calls leaf for each leaf in key order.
func (w *walker) tree(root uint64, leaf func(*page) error) error {
	_, err := w.subtree(root, nil, nil, 0, leaf)
	return err
}

func (w *walker) subtree(id uint64, lo, hi []byte, depth int, leaf func(*page) error) (height int, err error) {
	if depth > depthMax {
		return 0, fmt.Errorf("page %d is deeper than any tree", id)
	}
	p, err := w.page(id)
	if err != nil {
		return 0, err
	}
	if p.count == 0 && (depth > 0 || !p.leaf) {
		return 0, fmt.Errorf("page %d is empty", id)
	}
	if err := p.ordered(lo, hi); err != nil {
		return 0, err
	}
	if p.leaf {
		return 0, leaf(&p)
	}
	for i := range p.count {
		end := hi
		if i+1 < p.count {
			end = p.key(i + 1)
		}
		h, err := w.subtree(p.child(i), p.key(i), end, depth+1, leaf)
		if err != nil {
			return 0, err
		}
		if i > 0 && h != height {
			return 0, fmt.Errorf("the leaves under page %d are not on one level", id)
		}
		height = h
	}
	return height + 1, nil
}
