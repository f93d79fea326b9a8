package sftp

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// client sends one request at a time to its own server.
type client struct {
	t   *testing.T
	in  *io.PipeWriter
	out *io.PipeReader
	id  uint32
	end chan error
}

func connect(t *testing.T, folder string) *client {
	requests, in := io.Pipe()
	out, replies := io.Pipe()
	c := &client{t: t, in: in, out: out, end: make(chan error, 1)}
	go func() {
		c.end <- Serve(requests, replies, folder)
		_ = replies.Close()
	}()
	t.Cleanup(func() { _, _ = in.Close(), out.Close() })
	return c
}

// fields are uint32, uint64, string or []byte, in packet order.
func encode(fields ...any) []byte {
	var body []byte
	for _, field := range fields {
		switch value := field.(type) {
		case int:
			body = binary.BigEndian.AppendUint32(body, uint32(value))
		case uint64:
			body = binary.BigEndian.AppendUint64(body, value)
		case string:
			body = append(binary.BigEndian.AppendUint32(body, uint32(len(value))), value...)
		case byte:
			body = append(body, value)
		}
	}
	return body
}

func (c *client) ask(kind byte, fields ...any) (byte, *parser) {
	c.t.Helper()
	c.id++
	body := append(encode(kind, int(c.id)), encode(fields...)...)
	if _, err := c.in.Write(append(encode(len(body)), body...)); err != nil {
		c.t.Fatal(err)
	}
	answer, err := readPacket(c.out, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	p := &parser{rest: answer[1:]}
	if id := p.uint32(); id != c.id {
		c.t.Fatalf("got a reply for %d, want %d", id, c.id)
	}
	return answer[0], p
}

func (c *client) status(want uint32, kind byte, fields ...any) {
	c.t.Helper()
	got, p := c.ask(kind, fields...)
	if code := p.uint32(); got != typeStatus || code != want {
		c.t.Fatalf("packet %d: got reply %d with status %d (%s), want %d", kind, got, code, p.string(), want)
	}
}

func (c *client) handle(kind byte, fields ...any) string {
	c.t.Helper()
	got, p := c.ask(kind, fields...)
	if got != typeHandle {
		c.t.Fatalf("packet %d: got reply %d, want a handle", kind, got)
	}
	return p.string()
}

func (c *client) attributes(kind byte, target string) attributes {
	c.t.Helper()
	got, p := c.ask(kind, target)
	if got != typeAttrs {
		c.t.Fatalf("packet %d: got reply %d, want attributes", kind, got)
	}
	return p.attributes()
}

func TestFilesAreWrittenAndRead(t *testing.T) {
	folder := t.TempDir()
	c := connect(t, folder)
	content := bytes.Repeat([]byte("0123456789"), 20_000)
	file := c.handle(typeOpen, "file", openWrite|openCreate|openTruncate, attrMode, 0o666)
	half := len(content) / 2
	c.status(statusOK, typeWrite, file, uint64(half), string(content[half:])) // in any order
	c.status(statusOK, typeWrite, file, uint64(0), string(content[:half]))
	c.status(statusOK, typeExtended, "fsync@openssh.com", file)
	c.status(statusOK, typeClose, file)
	c.status(statusFailure, typeClose, file)
	if written, err := os.ReadFile(filepath.Join(folder, "file")); err != nil || !bytes.Equal(written, content) {
		t.Fatalf("%d bytes were written (%v)", len(written), err)
	}
	if a := c.attributes(typeStat, "file"); a.size != uint64(len(content)) || a.mode != 0o644 {
		t.Fatalf("size %d, mode %o", a.size, a.mode)
	}
	file = c.handle(typeOpen, filepath.Join(folder, "file"), openRead, 0)
	var read []byte
	for {
		kind, p := c.ask(typeRead, file, uint64(len(read)), 32<<10)
		if kind == typeStatus {
			if code := p.uint32(); code != statusEOF {
				t.Fatalf("status %d", code)
			}
			break
		}
		read = append(read, p.bytes()...)
	}
	if !bytes.Equal(read, content) {
		t.Fatalf("%d bytes were read", len(read))
	}
	c.status(statusFailure, typeOpen, "file", openWrite|openCreate|openExclusive, 0)
	file = c.handle(typeOpen, "file", openWrite|openAppend, 0)
	c.status(statusOK, typeWrite, file, uint64(0), "end")
	if a := c.attributes(typeFstat, file); a.size != uint64(len(content)+3) {
		t.Fatalf("size %d after an append", a.size)
	}
}

func TestNamesAreMadeMovedAndRemoved(t *testing.T) {
	folder := t.TempDir()
	c := connect(t, folder)
	c.status(statusOK, typeMkdir, "a", attrMode, 0o777)
	if a := c.attributes(typeStat, "a"); a.mode != 0o755 {
		t.Fatalf("mode %o", a.mode)
	}
	c.status(statusFailure, typeMkdir, "a", 0)
	for _, name := range []string{"a/one", "a/two"} {
		c.status(statusOK, typeClose, c.handle(typeOpen, name, openWrite|openCreate, 0))
	}
	c.status(statusFailure, typeRename, "a/one", "a/two") // renames of version 3 do not replace
	c.status(statusOK, typeExtended, "posix-rename@openssh.com", "a/one", "a/two")
	c.status(statusOK, typeRename, "a/two", "a/three")
	c.status(statusOK, typeExtended, "hardlink@openssh.com", "a/three", "a/four")
	c.status(statusOK, typeSymlink, "three", "a/link")
	if _, p := c.ask(typeReadlink, "a/link"); p.uint32() != 1 || p.string() != "three" {
		t.Fatal("the link has the wrong target")
	}
	if _, p := c.ask(typeRealpath, "a/link"); p.uint32() != 1 || p.string() != filepath.Join(folder, "a/three") {
		t.Fatal("the path was resolved incorrectly")
	}
	if _, p := c.ask(typeRealpath, "./a/../new"); p.uint32() != 1 || p.string() != filepath.Join(folder, "new") {
		t.Fatal("the path of a missing file is wrong")
	}
	listed := map[string]bool{}
	open := c.handle(typeOpendir, "a")
	for {
		kind, p := c.ask(typeReaddir, open)
		if kind != typeName {
			break
		}
		for count := p.uint32(); count > 0; count-- {
			listed[p.string()] = true
			p.string()
			p.attributes()
		}
	}
	if len(listed) != 3 || !listed["three"] || !listed["four"] || !listed["link"] {
		t.Fatalf("listed %v", listed)
	}
	c.status(statusFailure, typeRmdir, "a")
	for name := range listed {
		c.status(statusOK, typeRemove, "a/"+name)
	}
	c.status(statusOK, typeRmdir, "a")
	c.status(statusNoSuchFile, typeOpendir, "a")
}

func TestAttributesAreSet(t *testing.T) {
	folder := t.TempDir()
	c := connect(t, folder)
	file := c.handle(typeOpen, "file", openRead|openWrite|openCreate, 0)
	c.status(statusOK, typeFsetstat, file, attrSize|attrMode|attrTimes, uint64(5), 0o4750, 1000, 2000)
	if a := c.attributes(typeStat, "file"); a.size != 5 || a.mode != 0o4750 || a.atime != 1000 || a.mtime != 2000 {
		t.Fatalf("%+v", a)
	}
	c.status(statusOK, typeSymlink, "absent", "link")
	c.status(statusOK, typeExtended, "lsetstat@openssh.com", "link", attrTimes, 3000, 4000)
	if a := c.attributes(typeLstat, "link"); a.mtime != 4000 {
		t.Fatalf("%+v", a)
	}
	c.status(statusNoSuchFile, typeSetstat, "link", attrMode, 0o600)
}

func TestWhatIsNoFileIsRefusedWithoutWaiting(t *testing.T) {
	folder := t.TempDir()
	c := connect(t, folder)
	if err := unix.Mkfifo(filepath.Join(folder, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"fifo", "/dev/zero", "."} {
		c.status(statusFailure, typeOpen, name, openRead, 0)
	}
	c.status(statusBadMessage, typeStat, "a\x00b")
	c.status(statusBadMessage, typeOpen, "file")
	c.status(statusFailure, typeRead, "none", uint64(0), 10)
	c.status(statusUnsupported, typeExtended, "copy-data", "x")
	c.status(statusUnsupported, 99)
	for range maxHandles {
		c.handle(typeOpendir, ".")
	}
	c.status(statusFailure, typeOpendir, ".")
}

func TestAPacketBeyondTheLimitEndsTheConnection(t *testing.T) {
	for _, head := range []int{0, maxPacketBytes + 1} {
		if err := Serve(bytes.NewReader(encode(head)), io.Discard, "/"); err == nil {
			t.Fatalf("a packet of %d bytes was read", head)
		}
	}
	if err := Serve(bytes.NewReader(encode(100, 1)), io.Discard, "/"); err == nil {
		t.Fatal("a truncated packet was read")
	}
	if err := Serve(bytes.NewReader(nil), io.Discard, "/"); err != nil {
		t.Fatal(err)
	}
}

// FuzzPacket checks that no packet makes the parser panic or read beyond the packet.
func FuzzPacket(f *testing.F) {
	f.Add(encode("name", attrSize|attrOwner|attrMode|attrTimes, uint64(1), 2, 3, 4, 5, 6))
	f.Add(encode("name", int(attrExtended), 2, "a", "b", "c", "d"))
	f.Add(encode("", int(attrExtended), 0xffffffff))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0})
	f.Fuzz(func(t *testing.T, packet []byte) {
		p := &parser{rest: packet}
		name := p.string()
		p.attributes()
		if left := len(p.rest); len(name)+left > len(packet) {
			t.Fatalf("%d of %d bytes were taken, %d are left", len(name), len(packet), left)
		}
		if p.failed && p.take(0) != nil {
			t.Fatal("a field follows a missing one")
		}
	})
}
