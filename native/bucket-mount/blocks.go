package main

import (
	"context"
	"io"
	"sync"
	"syscall"
)

const (
	blockSize = 2 << 20
	// keptBlocks is the cache of one open file; aheadBlocks is how far ahead of a sequential reader blocks are fetched.
	keptBlocks  = 4
	aheadBlocks = 2
	// maxBlocks bounds the blocks of all open files together: 64 MiB.
	maxBlocks = 32
)

// block is a part of an object, in memory or being fetched.
type block struct {
	mu      sync.Mutex
	arrived *sync.Cond
	data    []byte
	length  int
	err     error
	used    uint64
	cancel  context.CancelFunc
}

// blockReader reads one version of an object. Sequential readers get whole blocks, fetched ahead; others get exactly
// the range they ask for.
type blockReader struct {
	m          *mount
	path, etag string
	size       int64

	mu     sync.Mutex
	blocks map[int64]*block
	next   int64 // end of the last read
	uses   uint64
}

func newBlockReader(m *mount, path, etag string, size int64) *blockReader {
	return &blockReader{m: m, path: path, etag: etag, size: size, blocks: map[int64]*block{}}
}

// readAt fills the buffer, which must be within the object.
func (r *blockReader) readAt(ctx context.Context, into []byte, off int64) error {
	for len(into) > 0 {
		index := off / blockSize
		found := r.block(index, off, off+int64(len(into)))
		part := into[:min(int64(len(into)), (index+1)*blockSize-off)]
		var err error
		if found == nil {
			err = r.fetch(ctx, part, off)
		} else {
			err = found.copy(part, int(off-index*blockSize))
		}
		if err != nil {
			return err
		}
		off, into = off+int64(len(part)), into[len(part):]
	}
	return nil
}

// block returns nil if the read is not sequential or all blocks are taken.
func (r *blockReader) block(index, off, end int64) *block {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := r.blocks[index]
	// The kernel reads ahead with several concurrent requests, which arrive in any order.
	ordered := off <= r.next+maxRequestBytes && off+maxRequestBytes >= r.next
	r.next = max(end, off)
	if found == nil && ordered {
		found = r.begin(index)
	}
	if found == nil {
		return nil
	}
	r.uses++
	found.used = r.uses
	if ordered {
		for ahead := index + 1; ahead <= index+aheadBlocks && ahead*blockSize < r.size; ahead++ {
			if r.blocks[ahead] == nil {
				r.begin(ahead)
			}
		}
	}
	return found
}

// begin fetches a block in the background and evicts the least recently used one.
func (r *blockReader) begin(index int64) *block {
	if len(r.blocks) >= keptBlocks {
		oldest := int64(-1)
		for each, b := range r.blocks {
			if oldest < 0 || b.used < r.blocks[oldest].used {
				oldest = each
			}
		}
		r.drop(oldest)
	}
	select {
	case r.m.blocks <- struct{}{}:
	default:
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.uses++
	from := index * blockSize
	b := &block{data: make([]byte, min(blockSize, r.size-from)), used: r.uses, cancel: cancel}
	b.arrived = sync.NewCond(&b.mu)
	r.blocks[index] = b
	go b.fill(ctx, r, from)
	return b
}

func (r *blockReader) drop(index int64) {
	r.blocks[index].cancel()
	delete(r.blocks, index)
}

func (r *blockReader) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for index := range r.blocks {
		r.drop(index)
	}
}

func (r *blockReader) fetch(ctx context.Context, into []byte, off int64) error {
	body, err := r.m.platform.read(ctx, r.path, r.etag, off, off+int64(len(into)))
	if err != nil {
		return err
	}
	defer body.Close()
	if _, err := io.ReadFull(body, into); err != nil {
		return syscall.EIO
	}
	return nil
}

// fill holds a slot for blocks until the block is released.
func (b *block) fill(ctx context.Context, r *blockReader, from int64) {
	body, err := r.m.platform.read(ctx, r.path, r.etag, from, from+int64(len(b.data)))
	for err == nil && b.length < len(b.data) {
		var n int
		n, err = body.Read(b.data[b.length:])
		if n > 0 {
			err = nil
		}
		b.mu.Lock()
		b.length += n
		b.mu.Unlock()
		b.arrived.Broadcast()
	}
	if body != nil {
		_ = body.Close()
	}
	b.mu.Lock()
	b.err = err
	b.mu.Unlock()
	b.arrived.Broadcast()
	<-ctx.Done()
	<-r.m.blocks
}

func (b *block) copy(into []byte, at int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.length < at+len(into) && b.err == nil {
		b.arrived.Wait()
	}
	if b.length < at+len(into) {
		return errnoOf(b.err)
	}
	copy(into, b.data[at:])
	return nil
}
