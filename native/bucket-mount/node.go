package main

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

const (
	maxNameBytes = 255
	maxLinkBytes = 4096
)

// mount is a mounted folder of a bucket.
type mount struct {
	settings settings
	platform *platform
	// spool is the descriptor of the folder for files being written.
	spool int
	// appendAtLeast is the size from which the platform composes an appended file from the stored object and the new bytes.
	appendAtLeast int64
	// names is locked to change names, and read-locked to use them.
	names sync.RWMutex
	// blocks has an entry for each block in memory; spooled is the total size of the spools.
	blocks  chan struct{}
	spooled atomic.Int64
}

// node is a file, a folder or a symbolic link.
type node struct {
	fs.Inode
	m *mount

	mu sync.Mutex
	// content is shared by all open handles; nil while the file is closed.
	content *content
	// etag is the version that the kernel's page cache may hold.
	etag string
	// listed caches entries of the last page of a listing, so that a long listing needs no request for each name.
	listed   map[string]*entry
	listedAt time.Time
}

func newRoot(m *mount) *node { return &node{m: m} }

func formatSize(size int64) string { return strconv.FormatInt(size, 10) }

func (n *node) path() string { return n.Path(nil) }

func (n *node) pathOf(name string) string { return join(n.path(), name) }

// open returns nil unless the file is open.
func (n *node) open() *content {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.content
}

func childOf(parent *node, name string) *node {
	child := parent.GetChild(name)
	if child == nil {
		return nil
	}
	return child.Operations().(*node)
}

func checkName(name string) error {
	if len(name) > maxNameBytes {
		return syscall.ENAMETOOLONG
	}
	if !utf8.ValidString(name) || strings.Contains(name, "\x00") {
		return syscall.EINVAL
	}
	return nil
}

// adopt returns the inode of a name, reusing the known one if it is of the same kind.
func (n *node) adopt(ctx context.Context, name string, a attributes, size int64, out *fuse.EntryOut) *fs.Inode {
	n.m.fill(a, size, &out.Attr)
	kind := a.mode & unix.S_IFMT
	if known := n.GetChild(name); known != nil && known.Mode() == kind {
		return known
	}
	return n.NewInode(ctx, &node{m: n.m}, fs.StableAttr{Mode: kind})
}

func (n *node) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	if err := checkName(name); err != nil {
		return nil, syscall.ENOENT
	}
	n.m.names.RLock()
	defer n.m.names.RUnlock()
	if child := childOf(n, name); child != nil {
		if c := child.open(); c != nil {
			return n.lookupOpen(ctx, name, c, out)
		}
	}
	found := n.recentlyListed(name)
	if found == nil {
		var err error
		if found, err = n.m.platform.stat(ctx, n.pathOf(name)); err != nil {
			return nil, errnoOf(err)
		}
	}
	return n.adopt(ctx, name, found.attributes(), found.Size, out), 0
}

func (n *node) lookupOpen(ctx context.Context, name string, c *content, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	if err := n.m.platform.assertAllowed(ctx); err != nil {
		return nil, errnoOf(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return nil, syscall.ENOENT
	}
	return n.adopt(ctx, name, c.attributes, c.size, out), 0
}

func (n *node) recentlyListed(name string) *entry {
	n.mu.Lock()
	defer n.mu.Unlock()
	if time.Since(n.listedAt) > cacheTime {
		n.listed = nil
	}
	return n.listed[name]
}

func (n *node) Getattr(ctx context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	n.m.names.RLock()
	defer n.m.names.RUnlock()
	if c := n.open(); c != nil {
		if err := c.confirm(ctx, n.path()); err != nil {
			return errnoOf(err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		n.m.fill(c.attributes, c.size, &out.Attr)
		return 0
	}
	found, err := n.m.platform.stat(ctx, n.path())
	if err != nil {
		return errnoOf(err)
	}
	n.m.fill(found.attributes(), found.Size, &out.Attr)
	return 0
}

// stat returns what is stored under the name that the file has now.
func (n *node) stat(ctx context.Context) (*entry, error) {
	n.m.names.RLock()
	defer n.m.names.RUnlock()
	return n.m.platform.stat(ctx, n.path())
}

// forgetAttributes has the kernel ask for the attributes again; it keeps the content it has.
func (n *node) forgetAttributes() {
	const withoutContent = -1
	_ = n.NotifyContent(withoutContent, 0)
}

func (n *node) Setattr(ctx context.Context, _ fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	n.m.names.RLock()
	defer n.m.names.RUnlock()
	c := n.open()
	if c == nil {
		found, err := n.m.platform.stat(ctx, n.path())
		if err != nil {
			return errnoOf(err)
		}
		c = openContent(n.m, found)
		defer c.release()
	} else if err := n.m.platform.assertAllowed(ctx); err != nil {
		return errnoOf(err)
	}
	if size, ok := in.GetSize(); ok {
		if n.IsDir() {
			return syscall.EISDIR
		}
		if err := c.truncate(int64(size)); err != nil {
			return errnoOf(err)
		}
		if n.open() == nil {
			if err := c.store(n.path()); err != nil {
				return errnoOf(err)
			}
		}
	}
	if changed := n.m.change(c, in); changed {
		if err := n.storeAttributes(ctx, c); err != nil {
			return errnoOf(err)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	n.m.fill(c.attributes, c.size, &out.Attr)
	return 0
}

func (m *mount) change(c *content, in *fuse.SetAttrIn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.attributes
	if mode, ok := in.GetMode(); ok {
		c.mode = modeOf(c.mode&unix.S_IFMT, mode)
	}
	if uid, ok := in.GetUID(); ok {
		c.uid = m.sandboxID(uid)
	}
	if gid, ok := in.GetGID(); ok {
		c.gid = m.sandboxID(gid)
	}
	if modified, ok := in.GetMTime(); ok {
		c.modified = nowOr(modified, in.Valid&fuse.FATTR_MTIME_NOW == 0)
	}
	return c.attributes != before
}

// storeAttributes stores the attributes. Those of a file being written are stored with its content.
func (n *node) storeAttributes(ctx context.Context, c *content) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dirty || c.gone {
		return nil
	}
	var stored entry
	_, err := n.m.platform.ask(ctx, call{
		method: http.MethodPost, op: "attributes", query: url.Values{"path": {n.path()}}, metadata: c.metadata(),
	}, &stored)
	if err == nil && c.base != nil && stored.Etag != c.base.Etag {
		c.dropReader()
		c.base, c.baseSize = &stored, stored.Size
	}
	return err
}

func (n *node) Statfs(_ context.Context, out *fuse.StatfsOut) syscall.Errno {
	const blocks = 1 << 38 // the bucket's quota is enforced by the write that exceeds it
	out.Bsize, out.Frsize, out.NameLen = 4096, 4096, maxNameBytes
	out.Blocks, out.Bfree, out.Bavail, out.Files, out.Ffree = blocks, blocks, blocks, blocks, blocks
	return 0
}

func (n *node) Readlink(ctx context.Context) ([]byte, syscall.Errno) {
	n.m.names.RLock()
	defer n.m.names.RUnlock()
	found, err := n.m.platform.stat(ctx, n.path())
	if err != nil {
		return nil, errnoOf(err)
	}
	if found.Size == 0 || found.Size > maxLinkBytes {
		return nil, syscall.EIO
	}
	target := make([]byte, found.Size)
	return target, errnoOf(newBlockReader(n.m, n.path(), found.Etag, found.Size).fetch(ctx, target, 0))
}
