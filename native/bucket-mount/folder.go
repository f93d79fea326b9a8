package main

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// listing reads a folder page by page, in name order.
type listing struct {
	n       *node
	page    []entry
	after   string
	hasMore bool
	// pending are files that have not been stored yet.
	pending []string
	failed  syscall.Errno
}

// Opendir checks that the folder exists, since many programs take a failed listing for an empty folder.
func (n *node) Opendir(ctx context.Context) syscall.Errno {
	_, err := n.m.platform.ask(ctx, call{method: http.MethodGet, op: "lease"}, nil)
	return errnoOf(err)
}

func (n *node) Readdir(context.Context) (fs.DirStream, syscall.Errno) {
	l := &listing{n: n, hasMore: true}
	for name, child := range n.Children() {
		if c := child.Operations().(*node).open(); c != nil {
			c.mu.Lock()
			if c.base == nil && !c.gone {
				l.pending = append(l.pending, name)
			}
			c.mu.Unlock()
		}
	}
	return l, 0
}

func (l *listing) HasNext() bool {
	for len(l.page) == 0 && l.hasMore && l.failed == 0 {
		l.fetch()
	}
	return len(l.page) > 0 || len(l.pending) > 0 || l.failed != 0
}

func (l *listing) fetch() {
	var answer struct {
		Entries []entry `json:"entries"`
		Next    *string `json:"next"`
	}
	l.n.m.names.RLock()
	query := url.Values{"path": {l.n.path()}, "after": {l.after}}
	_, err := l.n.m.platform.ask(context.Background(), call{method: http.MethodGet, op: "list", query: query}, &answer)
	l.n.m.names.RUnlock()
	if err != nil {
		l.failed = errnoOf(err)
		return
	}
	l.page, l.hasMore = answer.Entries, answer.Next != nil
	if answer.Next != nil {
		l.after = *answer.Next
	}
	listed := make(map[string]*entry, len(l.page))
	for index := range l.page {
		if each := &l.page[index]; each.Kind == kindFile { // a listing lacks the attributes of folders
			listed[each.Name] = each
		}
	}
	l.n.mu.Lock()
	l.n.listed, l.n.listedAt = listed, time.Now()
	l.n.mu.Unlock()
}

func (l *listing) Next() (fuse.DirEntry, syscall.Errno) {
	if l.failed != 0 {
		return fuse.DirEntry{}, l.failed
	}
	if len(l.page) == 0 {
		name := l.pending[0]
		l.pending = l.pending[1:]
		return fuse.DirEntry{Name: name, Mode: unix.S_IFREG}, 0
	}
	next := &l.page[0]
	l.page = l.page[1:]
	for index, name := range l.pending {
		if name == next.Name {
			l.pending = append(l.pending[:index:index], l.pending[index+1:]...)
			break
		}
	}
	return fuse.DirEntry{Name: next.Name, Mode: next.attributes().mode & unix.S_IFMT}, 0
}

func (l *listing) Close() { l.page, l.pending, l.hasMore = nil, nil, false }

func (n *node) forget() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.listed = nil
}

func (n *node) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return n.make(ctx, name, n.m.newAttributes(ctx, unix.S_IFDIR, mode), "folder", "", out)
}

func (n *node) Symlink(ctx context.Context, target, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return n.make(ctx, name, n.m.newAttributes(ctx, unix.S_IFLNK, 0o777), "write", target, out)
}

func (n *node) make(ctx context.Context, name string, a attributes, op, body string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	if err := checkName(name); err != nil {
		return nil, errnoOf(err)
	}
	n.m.names.Lock()
	defer n.m.names.Unlock()
	defer n.forget()
	c := call{
		method: http.MethodPut, op: op, query: url.Values{"path": {n.pathOf(name)}, "new": {"1"}}, metadata: a.metadata(),
		body: strings.NewReader(body), size: int64(len(body)),
	}
	if body == "" {
		c.body = nil
	}
	repeated, err := n.m.platform.ask(ctx, c, nil)
	if err != nil && !(repeated && errnoOf(err) == syscall.EEXIST) {
		return nil, errnoOf(err)
	}
	return n.adopt(ctx, name, a, int64(len(body)), out), 0
}

func (n *node) Unlink(ctx context.Context, name string) syscall.Errno {
	n.m.names.Lock()
	defer n.m.names.Unlock()
	defer n.forget()
	var opened *content
	if child := childOf(n, name); child != nil {
		if c := child.open(); c != nil && !c.gone {
			isStored := c.base != nil
			if err := c.detach(n.pathOf(name)); err != nil {
				return errnoOf(err)
			}
			if !isStored {
				return 0
			}
			opened = c
		}
	}
	errno := n.remove(ctx, name, kindFile)
	if errno != 0 && opened != nil {
		opened.attach()
	}
	return errno
}

func (n *node) Rmdir(ctx context.Context, name string) syscall.Errno {
	n.m.names.Lock()
	defer n.m.names.Unlock()
	defer n.forget()
	if child := childOf(n, name); child != nil && child.hasOpen() {
		return syscall.ENOTEMPTY
	}
	return n.remove(ctx, name, kindFolder)
}

func (n *node) remove(ctx context.Context, name, kind string) syscall.Errno {
	query := url.Values{"path": {n.pathOf(name)}, "kind": {kind}}
	repeated, err := n.m.platform.ask(ctx, call{method: http.MethodDelete, op: "remove", query: query}, nil)
	if repeated && errnoOf(err) == syscall.ENOENT {
		return 0
	}
	return errnoOf(err)
}

// hasOpen reports whether a file below the folder is open and has unstored changes.
func (n *node) hasOpen() bool {
	for _, child := range n.Children() {
		each := child.Operations().(*node)
		if c := each.open(); c != nil && !c.gone {
			return true
		}
		if each.hasOpen() {
			return true
		}
	}
	return false
}

// storeBelow stores the open files below the path, so that they are renamed with the rest.
func (n *node) storeBelow(path string) error {
	if c := n.open(); c != nil {
		if err := c.store(path); err != nil {
			return err
		}
	}
	for name, child := range n.Children() {
		if err := child.Operations().(*node).storeBelow(join(path, name)); err != nil {
			return err
		}
	}
	return nil
}

func (n *node) Rename(ctx context.Context, name string, newParent fs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	if err := checkName(newName); err != nil {
		return errnoOf(err)
	}
	if flags&^unix.RENAME_NOREPLACE != 0 {
		return syscall.EINVAL
	}
	target := newParent.(*node)
	n.m.names.Lock()
	defer n.m.names.Unlock()
	defer n.forget()
	defer target.forget()
	from, to := n.pathOf(name), target.pathOf(newName)
	if child := childOf(n, name); child != nil {
		if err := child.storeBelow(from); err != nil {
			return errnoOf(err)
		}
	}
	query := url.Values{"from": {from}, "to": {to}}
	var opened *content
	if replaced := childOf(target, newName); replaced != nil {
		if c := replaced.open(); c != nil && !c.gone && flags == 0 && from != to {
			if err := c.detach(to); err != nil {
				return errnoOf(err)
			}
			opened = c
		}
	}
	if flags&unix.RENAME_NOREPLACE != 0 {
		query.Set("new", "1")
	}
	repeated, err := n.m.platform.ask(ctx, call{method: http.MethodPost, op: "rename", query: query}, nil)
	if repeated && errnoOf(err) == syscall.ENOENT {
		if _, missing := n.m.platform.stat(ctx, to); missing == nil {
			err = nil
		}
	}
	if err != nil && opened != nil {
		opened.attach()
	}
	return errnoOf(err)
}
