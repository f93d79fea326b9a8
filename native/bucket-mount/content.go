package main

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// content is an open file. Writes go to a spool, which replaces the whole object when it is stored.
type content struct {
	m     *mount
	users int // guarded by the node's lock

	mu sync.Mutex
	attributes
	size int64
	// base is the stored object, nil if there is none. The first baseSize bytes of it are still part of the file.
	base     *entry
	baseSize int64
	spool    *os.File
	have     ranges
	dirty    bool
	// emptied is set while a stored file that was opened with O_TRUNC has not been written to.
	emptied bool
	// gone is set once the name was removed or refers to another file.
	gone bool
	// seen is set once a program may have read or written a part: then it may read no other version.
	seen bool
	// confirmed is when base was last known to be the stored version.
	confirmed time.Time
	reader    *blockReader
}

// confirmAfter is how long an unread file that was just opened is not looked up again.
const confirmAfter = 100 * time.Millisecond

// refreshAttempts bounds how often a read follows a file that is replaced again and again.
const refreshAttempts = 8

func openContent(m *mount, stored *entry) *content {
	return &content{
		m: m, attributes: stored.attributes(), size: stored.Size, base: stored, baseSize: stored.Size, confirmed: time.Now(),
	}
}

func newContent(m *mount, a attributes) *content {
	return &content{m: m, attributes: a, dirty: true}
}

// release frees the spool and the cached blocks.
func (c *content) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropReader()
	c.dropSpool()
}

func (c *content) dropReader() {
	if c.reader != nil {
		c.reader.close()
		c.reader = nil
	}
}

func (c *content) dropSpool() {
	c.m.spooled.Add(-c.have.total())
	c.have = nil
	if c.spool != nil {
		_ = c.spool.Close()
		c.spool = nil
	}
}

func (c *content) write(data []byte, off int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.put(data, off); err != nil {
		return err
	}
	c.size, c.dirty, c.modified = max(c.size, off+int64(len(data))), true, time.Now()
	c.emptied, c.seen = false, true
	return nil
}

// put writes to the spool. The size of all spools of the mount is bounded.
func (c *content) put(data []byte, off int64) error {
	if c.spool == nil {
		spool, err := newSpool(c.m.spool)
		if err != nil {
			return errnoOf(err)
		}
		c.spool = spool
	}
	grown := c.have.add(off, off+int64(len(data)))
	more := grown.total() - c.have.total()
	if c.m.spooled.Add(more) > c.m.settings.SpoolBytes {
		c.m.spooled.Add(-more)
		return syscall.ENOSPC
	}
	if _, err := c.spool.WriteAt(data, off); err != nil {
		c.m.spooled.Add(-more)
		return errnoOf(err)
	}
	c.have = grown
	return nil
}

func (c *content) truncate(size int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if size < c.size && c.spool != nil {
		cut := c.have.cut(size)
		c.m.spooled.Add(cut.total() - c.have.total())
		c.have = cut
		if err := c.spool.Truncate(size); err != nil {
			return errnoOf(err)
		}
	}
	c.baseSize = min(c.baseSize, size)
	c.size, c.dirty, c.seen, c.modified = size, true, true, time.Now()
	c.emptied = size == 0 && c.base != nil
	return nil
}

func (c *content) isEmptied() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.emptied
}

// read fills the buffer up to the end of the file. If the file was replaced since it was opened, and nothing of it was read
// or written before, the read takes the new version. hasGrown reports that this one is larger.
func (c *content) read(ctx context.Context, of *node, into []byte, off int64) (n int, hasGrown bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for attempt := 0; attempt < refreshAttempts; attempt++ {
		base, size := c.base, c.size
		n, err = c.readVersion(ctx, of.path(), into, off)
		if c.base == base {
			if errnoOf(err) != syscall.ESTALE || !c.isReplaceable() {
				c.seen = c.seen || err == nil && n > 0
				return n, hasGrown, err
			}
			// The kernel takes the end of a read for the end of the file, but only of the first of several reads.
			mayShrink := off == 0 && int64(len(into)) >= size
			if c.refresh(ctx, of.stat, mayShrink) != nil {
				return 0, hasGrown, err
			}
		} // else another read or a write changed the version while this one waited
		hasGrown = hasGrown || c.size > size
	}
	return 0, hasGrown, syscall.ESTALE
}

// confirm asserts that the file may be used, and takes the stored version if nothing of the file was read yet. The caller
// holds the lock of names.
func (c *content) confirm(ctx context.Context, path string) error {
	c.mu.Lock()
	var err error = syscall.ESTALE
	if c.isReplaceable() && time.Since(c.confirmed) >= confirmAfter {
		current := func(ctx context.Context) (*entry, error) { return c.m.platform.stat(ctx, path) }
		err = c.refresh(ctx, current, true)
	}
	c.mu.Unlock()
	if errno := errnoOf(err); errno == syscall.ENOENT || errno == syscall.ESTALE {
		return c.m.platform.assertAllowed(ctx) // a read finds out that a file is gone
	}
	return err
}

func (c *content) isReplaceable() bool {
	return !c.seen && !c.dirty && !c.gone && c.spool == nil && c.base != nil
}

// refresh takes the version that is stored now, unless the file was read or written in the meantime.
func (c *content) refresh(ctx context.Context, current func(context.Context) (*entry, error), mayShrink bool) error {
	before, asked := c.base, time.Now()
	c.mu.Unlock() // also since the lock of names comes first
	found, err := current(ctx)
	c.mu.Lock()
	if err != nil || c.base != before || !c.isReplaceable() {
		return err
	}
	stored := found.attributes()
	if stored.mode&unix.S_IFMT != c.mode&unix.S_IFMT || !mayShrink && found.Size < c.size {
		return syscall.ESTALE
	}
	c.confirmed = asked
	if found.Etag == before.Etag {
		return nil
	}
	c.dropReader()
	c.attributes, c.size, c.base, c.baseSize = stored, found.Size, found, found.Size
	return nil
}

func (c *content) readVersion(ctx context.Context, path string, into []byte, off int64) (int, error) {
	if off >= c.size || len(into) == 0 {
		return 0, nil
	}
	into = into[:min(int64(len(into)), c.size-off)]
	end := off + int64(len(into))
	if c.have.contains(off, end) {
		_, err := c.spool.ReadAt(into, off)
		return len(into), err
	}
	if c.spool == nil && end <= c.baseSize {
		reader := c.readerOf(path)
		c.mu.Unlock() // reads of one file wait for their blocks concurrently
		err := reader.readAt(ctx, into, off)
		c.mu.Lock()
		return len(into), err
	}
	clear(into)
	if off < c.baseSize {
		if err := c.readerOf(path).readAt(ctx, into[:min(end, c.baseSize)-off], off); err != nil {
			return 0, err
		}
	}
	for _, each := range c.have {
		from, to := max(each.start, off), min(each.end, end)
		if from >= to {
			continue
		}
		if _, err := c.spool.ReadAt(into[from-off:to-off], from); err != nil {
			return 0, err
		}
	}
	return len(into), nil
}

func (c *content) readerOf(path string) *blockReader {
	if c.reader == nil || c.reader.etag != c.base.Etag {
		c.dropReader()
		c.reader = newBlockReader(c.m, path, c.base.Etag, c.base.Size)
	}
	c.reader.path = path
	return c.reader
}

// store replaces the object with what was written. Signals do not interrupt it: a killed process has already closed its
// files.
func (c *content) store(path string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.dirty || c.gone {
		return nil
	}
	ctx := context.Background()
	wanted := call{method: http.MethodPut, op: "write", query: url.Values{"path": {path}}, metadata: c.metadata()}
	missing := c.have.missing(min(c.baseSize, c.size))
	isAppend := len(missing) == 1 && missing[0].start == 0 && missing[0].end >= c.m.appendAtLeast
	if isAppend {
		wanted.op, wanted.match = "append", c.base.Etag
		wanted.query.Set("keep", formatSize(missing[0].end))
		wanted.size = c.size - missing[0].end
		wanted.body = io.NewSectionReader(spoolReader{c}, missing[0].end, wanted.size)
	} else {
		if err := c.hydrate(ctx, path, missing); err != nil {
			return err
		}
		wanted.size = c.size
		wanted.body = spoolReader{c}
	}
	if wanted.size == 0 {
		wanted.body = nil
	}
	var stored entry
	repeated, err := c.m.platform.ask(ctx, wanted, &stored)
	if isAppend && repeated && errnoOf(err) == syscall.ESTALE {
		stored, err = c.storedBefore(ctx, path)
	}
	if err != nil {
		return err
	}
	c.dropReader()
	c.base, c.baseSize, c.dirty, c.emptied = &stored, stored.Size, false, false
	return nil
}

// storedBefore reports whether an append whose answer was lost took effect, so that its retry found a newer version.
func (c *content) storedBefore(ctx context.Context, path string) (entry, error) {
	found, err := c.m.platform.stat(ctx, path)
	if err != nil {
		return entry{}, err
	}
	if found.Size != c.size || found.Metadata["mtime"] != formatTime(c.modified) {
		return entry{}, syscall.ESTALE
	}
	return *found, nil
}

// hydrate copies ranges of the stored object into the spool.
func (c *content) hydrate(ctx context.Context, path string, missing []span) error {
	buffer := make([]byte, maxRequestBytes)
	for _, each := range missing {
		body, err := c.m.platform.read(ctx, path, c.base.Etag, each.start, each.end)
		if err != nil {
			return err
		}
		for at := each.start; at < each.end; {
			n, err := io.ReadFull(body, buffer[:min(int64(len(buffer)), each.end-at)])
			if err == nil {
				err = c.put(buffer[:n], at)
			}
			if err != nil {
				_ = body.Close()
				return errnoOf(err)
			}
			at += int64(n)
		}
		_ = body.Close()
	}
	return nil
}

// detach keeps an open file readable when its object is about to be removed or replaced.
func (c *content) detach(path string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return nil
	}
	if err := c.hydrate(context.Background(), path, c.have.missing(min(c.baseSize, c.size))); err != nil {
		return err
	}
	c.dropReader()
	c.gone, c.base, c.baseSize = true, nil, 0
	return nil
}

// attach reverts detach after a failed removal or rename: the next close stores the file again.
func (c *content) attach() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone, c.dirty = false, true
}

// spoolReader returns zeros for ranges that were never written.
type spoolReader struct{ c *content }

func (s spoolReader) ReadAt(into []byte, off int64) (int, error) {
	into = into[:max(0, min(int64(len(into)), s.c.size-off))]
	if len(into) == 0 {
		return 0, io.EOF
	}
	n := 0
	if s.c.spool != nil {
		read, err := s.c.spool.ReadAt(into, off)
		if err != nil && err != io.EOF {
			return read, err
		}
		n = read
	}
	clear(into[n:])
	return len(into), nil
}
