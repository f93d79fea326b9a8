package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// driven is a mount without a kernel, next to a model of what a disk would have.
type driven struct {
	t       *testing.T
	store   *storeOfTest
	raw     fuse.RawFileSystem
	names   map[string]*modelFile
	handles []*modelHandle
}

type modelFile struct{ data []byte }

type modelHandle struct {
	file     *modelFile
	node, fh uint64
}

const (
	fuzzedNames  = "abc"
	mostHandles  = 6
	mostFileSize = 200
)

func newDriven(t *testing.T) *driven {
	s := newStoreOfTest()
	raw := fs.NewNodeFS(newRoot(mountOf(t, s)), &fs.Options{})
	return &driven{t: t, store: s, raw: raw, names: map[string]*modelFile{}}
}

func (d *driven) check(status fuse.Status, wanted syscall.Errno, what string) {
	d.t.Helper()
	if syscall.Errno(status) != wanted {
		d.t.Fatalf("%s: %v instead of %v", what, status, wanted)
	}
}

func header(node uint64) fuse.InHeader {
	return fuse.InHeader{NodeId: node, Caller: fuse.Caller{Owner: fuse.Owner{Uid: fuzzedUidBase, Gid: fuzzedUidBase}}}
}

// open opens or creates a file as open(2) does.
func (d *driven) open(name string, flags uint32) {
	h := header(fuse.FUSE_ROOT_ID)
	var found fuse.EntryOut
	status := d.raw.Lookup(nil, &h, name, &found)
	file := d.names[name]
	if file == nil {
		d.check(status, syscall.ENOENT, "lookup of "+name)
		var out fuse.CreateOut
		in := fuse.CreateIn{InHeader: h, Flags: flags | unix.O_CREAT, Mode: 0o600}
		d.check(d.raw.Create(nil, &in, name, &out), 0, "create of "+name)
		d.names[name] = &modelFile{}
		d.handles = append(d.handles, &modelHandle{d.names[name], out.NodeId, out.Fh})
		return
	}
	d.check(status, 0, "lookup of "+name)
	if found.Size != uint64(len(file.data)) {
		d.t.Fatalf("%s has %d bytes instead of %d", name, found.Size, len(file.data))
	}
	var out fuse.OpenOut
	d.check(d.raw.Open(nil, &fuse.OpenIn{InHeader: header(found.NodeId), Flags: flags}, &out), 0, "open of "+name)
	if flags&unix.O_TRUNC != 0 {
		file.data = nil
	}
	d.handles = append(d.handles, &modelHandle{file, found.NodeId, out.Fh})
}

func (d *driven) read(h *modelHandle, off, size int) {
	buffer := make([]byte, size)
	in := fuse.ReadIn{InHeader: header(h.node), Fh: h.fh, Offset: uint64(off), Size: uint32(size)}
	result, status := d.raw.Read(nil, &in, buffer)
	d.check(status, 0, "read")
	got, _ := result.Bytes(buffer)
	wanted := h.file.data[min(off, len(h.file.data)):min(off+size, len(h.file.data))]
	if !bytes.Equal(got, wanted) {
		d.t.Fatalf("read %q at %d instead of %q", got, off, wanted)
	}
}

func (d *driven) write(h *modelHandle, off int, data []byte) {
	in := fuse.WriteIn{InHeader: header(h.node), Fh: h.fh, Offset: uint64(off), Size: uint32(len(data))}
	n, status := d.raw.Write(nil, &in, data)
	d.check(status, 0, "write")
	if int(n) != len(data) {
		d.t.Fatalf("wrote %d of %d bytes", n, len(data))
	}
	h.file.data = resized(h.file.data, max(len(h.file.data), off+len(data)))
	copy(h.file.data[off:], data)
}

func resized(data []byte, size int) []byte {
	grown := make([]byte, size)
	copy(grown, data)
	return grown
}

func (d *driven) truncate(node uint64, file *modelFile, size int) {
	in := fuse.SetAttrIn{SetAttrInCommon: fuse.SetAttrInCommon{InHeader: header(node), Valid: fuse.FATTR_SIZE, Size: uint64(size)}}
	var out fuse.AttrOut
	d.check(d.raw.SetAttr(nil, &in, &out), 0, "truncate")
	file.data = resized(file.data, size)
	if out.Size != uint64(size) {
		d.t.Fatalf("truncated to %d instead of %d", out.Size, size)
	}
}

func (d *driven) close(index int) {
	h := d.handles[index]
	d.handles = slices.Delete(d.handles, index, index+1)
	d.check(d.raw.Flush(nil, &fuse.FlushIn{InHeader: header(h.node), Fh: h.fh}), 0, "flush")
	d.raw.Release(nil, &fuse.ReleaseIn{InHeader: header(h.node), Fh: h.fh})
}

func (d *driven) rename(from, to string) {
	in := fuse.RenameIn{InHeader: header(fuse.FUSE_ROOT_ID), Newdir: fuse.FUSE_ROOT_ID}
	d.lookUp(from, to) // as the kernel does
	d.check(d.raw.Rename(nil, &in, from, to), 0, fmt.Sprintf("rename of %s to %s", from, to))
	d.names[to] = d.names[from]
	delete(d.names, from)
}

func (d *driven) lookUp(names ...string) {
	for _, name := range names {
		h := header(fuse.FUSE_ROOT_ID)
		var out fuse.EntryOut
		_ = d.raw.Lookup(nil, &h, name, &out)
	}
}

func (d *driven) unlink(name string) {
	h := header(fuse.FUSE_ROOT_ID)
	d.lookUp(name)
	d.check(d.raw.Unlink(nil, &h, name), 0, "unlink of "+name)
	delete(d.names, name)
}

// step performs what four bytes say.
func (d *driven) step(op, which, at, count byte) {
	name := fuzzedNames[int(which)%len(fuzzedNames)]
	file := d.names[string(name)]
	switch op % 10 {
	case 0, 1:
		if len(d.handles) < mostHandles {
			d.open(string(name), []uint32{unix.O_RDWR, unix.O_RDWR | unix.O_TRUNC}[op%10])
		}
		return
	case 2:
		if to := fuzzedNames[int(at)%len(fuzzedNames)]; file != nil && to != name {
			d.rename(string(name), string(to))
		}
		return
	case 3:
		if file != nil {
			d.unlink(string(name))
		}
		return
	}
	if len(d.handles) == 0 {
		return
	}
	index := int(which) % len(d.handles)
	h, off := d.handles[index], int(at)%mostFileSize
	switch op % 10 {
	case 4:
		d.read(h, off, int(count))
	case 5:
		d.write(h, off, bytes.Repeat([]byte{count | 1}, 1+int(count)%40))
	case 6: // what O_APPEND is to a file system
		if len(h.file.data) < mostFileSize {
			d.write(h, len(h.file.data), bytes.Repeat([]byte{count | 1}, 1+int(count)%40))
		}
	case 7:
		d.truncate(h.node, h.file, off)
	case 8:
		d.check(d.raw.Fsync(nil, &fuse.FsyncIn{InHeader: header(h.node), Fh: h.fh}), 0, "fsync")
		d.assertStored(h)
	case 9:
		d.close(index)
	}
}

// assertStored: what was synced is what other readers of the bucket have.
func (d *driven) assertStored(h *modelHandle) {
	for name, file := range d.names {
		if file != h.file {
			continue
		}
		if o := d.store.objects[name]; o == nil || !bytes.Equal(o.data, file.data) {
			d.t.Fatalf("%s is stored as %v instead of %q", name, o, file.data)
		}
	}
}

// FuzzFiles: files of a mount behave as those of a disk, and the bucket has them when they are closed.
func FuzzFiles(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 5, 0, 0, 20, 9, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 9, 4, 0, 0, 90, 8, 0, 0, 0})
	f.Add([]byte{0, 0, 0, 0, 5, 0, 9, 30, 2, 0, 1, 0, 4, 0, 0, 90, 0, 0, 0, 0, 3, 1, 0, 0, 4, 0, 0, 90, 9, 0, 0, 0})
	f.Add([]byte{0, 0, 0, 0, 6, 0, 0, 39, 9, 0, 0, 0, 1, 0, 0, 0, 7, 0, 50, 0, 4, 0, 0, 90, 9, 0, 0, 0, 0, 0, 0, 0, 7, 0, 60, 0})
	f.Fuzz(func(t *testing.T, input []byte) {
		d := newDriven(t)
		for len(input) >= 4 {
			d.step(input[0], input[1], input[2], input[3])
			input = input[4:]
		}
		for len(d.handles) > 0 {
			d.close(0)
		}
		if len(d.store.objects) != len(d.names) {
			t.Fatalf("%d files are stored instead of %d", len(d.store.objects), len(d.names))
		}
		for name := range d.names {
			d.assertStored(&modelHandle{file: d.names[name]})
		}
	})
}

// FuzzReplaced: a reader sees one version of a file that others replace, or that its handle is stale; and never that, while
// nothing of the file was read.
func FuzzReplaced(f *testing.F) {
	f.Add([]byte{0, 10, 0, 0, 1, 20, 0, 0, 255, 0, 0, 4})
	f.Add([]byte{0, 0, 0, 4, 1, 9, 0, 0, 4, 4})
	f.Fuzz(func(t *testing.T, input []byte) {
		s, versions := newStoreOfTest(), [][]byte{}
		put := func(size byte) {
			versions = append(versions, bytes.Repeat([]byte{byte(len(versions))}, int(size)))
			s.put("", versions[len(versions)-1])
		}
		put(100)
		of, c := fileOfTest(t, s)
		opened, read := 0, -1
		for ; len(input) >= 2; input = input[2:] {
			if input[0]%3 == 0 {
				if len(versions) < 256 { // each consists of its number
					put(input[1])
				}
				continue
			}
			if input[0]%3 == 1 {
				c.confirmed = c.confirmed.Add(-confirmAfter)
				if err := c.confirm(context.Background(), ""); err != nil {
					t.Fatal(err)
				}
				continue
			}
			into, off, before := make([]byte, 1+int(input[0])), int64(input[1]), c.size
			n, _, err := c.read(context.Background(), of, into, off)
			latest := versions[len(versions)-1]
			if err != nil {
				mayShrink := off == 0 && int64(len(into)) >= before
				if errnoOf(err) != syscall.ESTALE || read < 0 && (mayShrink || int64(len(latest)) >= before) {
					t.Fatalf("%v of a file of which version %d was read", err, read)
				}
				continue
			}
			if n == 0 {
				continue
			}
			version := int(into[0])
			if read >= 0 && version != read || version < opened || version >= len(versions) {
				t.Fatalf("version %d after version %d", version, read)
			}
			if off+int64(n) > int64(len(versions[version])) || !bytes.Equal(into[:n], versions[version][off:off+int64(n)]) {
				t.Fatalf("%v is no part of version %d", into[:n], version)
			}
			if n < len(into) && off+int64(n) != int64(len(versions[version])) {
				t.Fatalf("a read ends at %d of %d", off+int64(n), len(versions[version]))
			}
			read = version
		}
	})
}
