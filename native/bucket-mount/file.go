package main

import (
	"context"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// handle is one open file description.
type handle struct{ c *content }

func (n *node) Open(ctx context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	n.m.names.RLock()
	defer n.m.names.RUnlock()
	var stored *entry
	if n.open() == nil {
		var err error
		if stored, err = n.m.platform.stat(ctx, n.path()); err != nil {
			return nil, 0, errnoOf(err)
		}
	} else if err := n.m.platform.assertAllowed(ctx); err != nil {
		return nil, 0, errnoOf(err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.content == nil {
		if stored == nil {
			return nil, 0, syscall.ESTALE // closed in the meantime
		}
		n.content = openContent(n.m, stored)
		n.content.seen = stored.Etag == n.etag // programs read what the kernel has in its cache
	}
	fuseFlags := uint32(0)
	if stored != nil && stored.Etag == n.etag {
		fuseFlags = fuse.FOPEN_KEEP_CACHE
	} else if stored != nil {
		n.etag = stored.Etag
		n.forgetAttributes() // the kernel may know the size of an earlier version
	}
	if flags&unix.O_TRUNC != 0 {
		if err := n.content.truncate(0); err != nil {
			return nil, 0, errnoOf(err)
		}
	}
	n.content.users++
	return &handle{n.content}, fuseFlags, 0
}

func (n *node) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	if err := checkName(name); err != nil {
		return nil, nil, 0, errnoOf(err)
	}
	n.m.names.Lock()
	defer n.m.names.Unlock()
	if err := n.m.platform.assertAllowed(ctx); err != nil {
		return nil, nil, 0, errnoOf(err)
	}
	if flags&unix.O_EXCL != 0 {
		// The kernel may still have the name in its cache.
		if _, err := n.m.platform.stat(ctx, n.pathOf(name)); err == nil {
			return nil, nil, 0, syscall.EEXIST
		} else if errnoOf(err) != syscall.ENOENT {
			return nil, nil, 0, errnoOf(err)
		}
	}
	c := newContent(n.m, n.m.newAttributes(ctx, unix.S_IFREG, mode))
	c.users = 1
	n.m.fill(c.attributes, 0, &out.Attr)
	child := &node{m: n.m, content: c}
	return n.NewInode(ctx, child, fs.StableAttr{Mode: unix.S_IFREG}), &handle{c}, 0, 0
}

func (m *mount) newAttributes(ctx context.Context, kind, mode uint32) attributes {
	a := attributes{mode: modeOf(kind, mode)}
	if caller, ok := fuse.FromContext(ctx); ok {
		a.uid, a.gid = m.sandboxID(caller.Uid), m.sandboxID(caller.Gid)
	}
	a.modified = nowOr(a.modified, false)
	return a
}

func (n *node) Read(ctx context.Context, f fs.FileHandle, into []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	if err := n.m.platform.assertAllowed(ctx); err != nil {
		return nil, errnoOf(err)
	}
	count, hasGrown, err := f.(*handle).c.read(ctx, n, into, off)
	if hasGrown {
		n.forgetAttributes() // a smaller size is the end of this read
	}
	if err != nil {
		return nil, errnoOf(err)
	}
	return fuse.ReadResultData(into[:count]), 0
}

func (n *node) Write(ctx context.Context, f fs.FileHandle, data []byte, off int64) (uint32, syscall.Errno) {
	if err := n.m.platform.assertAllowed(ctx); err != nil {
		return 0, errnoOf(err)
	}
	if err := f.(*handle).c.write(data, off); err != nil {
		return 0, errnoOf(err)
	}
	return uint32(len(data)), 0
}

// Flush runs on each close(2), which returns once the file is stored. A shell closes a copy of the descriptor before
// the program behind `> file` writes anything; storing at that point would show others an empty file.
func (n *node) Flush(_ context.Context, f fs.FileHandle) syscall.Errno {
	if f.(*handle).c.isEmptied() {
		return 0
	}
	return n.storeOpen(f)
}

func (n *node) Fsync(_ context.Context, f fs.FileHandle, _ uint32) syscall.Errno {
	if f == nil {
		return 0 // names in a folder are stored with each change
	}
	return n.storeOpen(f)
}

func (n *node) storeOpen(f fs.FileHandle) syscall.Errno {
	n.m.names.RLock()
	defer n.m.names.RUnlock()
	return errnoOf(f.(*handle).c.store(n.path()))
}

func (n *node) Release(_ context.Context, f fs.FileHandle) syscall.Errno {
	c := f.(*handle).c
	if c.isEmptied() {
		_ = n.storeOpen(f) // in the background: nothing waits for the result
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	c.users--
	if c.users > 0 {
		return 0
	}
	if n.content == c {
		n.content = nil
		n.etag = "" // the page cache may hold data that could not be stored
		if c.base != nil && !c.dirty && c.seen {
			n.etag = c.base.Etag
		}
	}
	c.release()
	return 0
}

func (n *node) Allocate(_ context.Context, f fs.FileHandle, off, size uint64, mode uint32) syscall.Errno {
	const keepSize = 1
	c := f.(*handle).c
	if mode&^keepSize != 0 {
		return syscall.EOPNOTSUPP
	}
	if end := int64(off + size); mode&keepSize == 0 && end > c.size {
		return errnoOf(c.truncate(end))
	}
	return 0
}
