// Package sftp serves version 3 of the protocol to one client, with the rights of its own process. It limits only the
// packet size and the number of handles, since its client may run programs in the sandbox anyway.
package sftp

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	maxPacketBytes = 256 << 10
	// A reply has a header in addition to the data.
	maxDataBytes = maxPacketBytes - 1024
	maxHandles   = 256
	namesAtOnce  = 64
	// Applied to the mode of files that the client creates, as for a login.
	umask = 0o022
)

type server struct {
	in      io.Reader
	out     io.Writer
	folder  string
	handles map[string]*handle
	next    uint64
	reply   reply
}

// handle is an open file or folder.
type handle struct {
	fd       int
	isAppend bool
	folder   *os.File
	path     string
}

// Serve handles one request after the other until the input ends or is malformed. Relative paths start at the folder.
func Serve(in io.Reader, out io.Writer, folder string) error {
	s := &server{in: in, out: out, folder: folder, handles: map[string]*handle{}}
	defer s.closeAll()
	packet := make([]byte, 0, 64<<10)
	for {
		var err error
		if packet, err = readPacket(in, packet); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if err := s.answer(packet); err != nil {
			return err
		}
	}
}

func readPacket(in io.Reader, buffer []byte) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return nil, err
	}
	length := int(binary.BigEndian.Uint32(head[:]))
	if length < 1 || length > maxPacketBytes {
		return nil, errMalformed
	}
	if cap(buffer) < length {
		buffer = make([]byte, maxPacketBytes)
	}
	buffer = buffer[:length]
	if _, err := io.ReadFull(in, buffer); err != nil {
		return nil, errMalformed
	}
	return buffer, nil
}

// answer sends exactly one reply. An error ends the connection, which is out of sync or closed.
func (s *server) answer(packet []byte) error {
	kind := packet[0]
	p := &parser{rest: packet[1:]}
	id := p.uint32() // in the first packet, the version
	if p.failed {
		return errMalformed
	}
	if kind == typeInit {
		s.greet()
	} else if err := s.handle(kind, id, p); err != nil {
		s.status(id, err)
	}
	_, err := s.out.Write(s.reply.finish())
	return err
}

func (s *server) greet() {
	s.reply.begin(typeVersion, 3)
	for _, extension := range [][2]string{
		{"posix-rename@openssh.com", "1"}, {"hardlink@openssh.com", "1"}, {"fsync@openssh.com", "1"},
		{"statvfs@openssh.com", "2"}, {"fstatvfs@openssh.com", "2"}, {"lsetstat@openssh.com", "1"},
		{"limits@openssh.com", "1"},
	} {
		s.reply.string(extension[0])
		s.reply.string(extension[1])
	}
}

func (s *server) status(id uint32, err error) {
	message := "Success"
	if err != nil {
		message = err.Error()
	}
	s.reply.begin(typeStatus, id)
	s.reply.uint32(statusOf(err))
	s.reply.string(message)
	s.reply.string("")
}

// handle prepares the reply, or returns the error to send as a status.
func (s *server) handle(kind byte, id uint32, p *parser) error {
	switch kind {
	case typeOpen:
		return s.open(id, p)
	case typeClose:
		return s.done(id, s.close(p.string()))
	case typeRead:
		return s.read(id, p)
	case typeWrite:
		return s.done(id, s.write(p))
	case typeLstat, typeStat, typeFstat:
		return s.stat(kind, id, p)
	case typeSetstat:
		name, a := s.path(p), p.attributes()
		return s.done(id, checked(p, func() error { return setAttributes(name, a, true) }))
	case typeFsetstat:
		return s.done(id, s.setOpen(p))
	case typeOpendir:
		return s.openFolder(id, p)
	case typeReaddir:
		return s.readFolder(id, p)
	case typeRemove:
		name := s.path(p)
		return s.done(id, checked(p, func() error { return unix.Unlink(name) }))
	case typeMkdir:
		name, a := s.path(p), p.attributes()
		return s.done(id, checked(p, func() error { return unix.Mkdir(name, creationMode(a, 0o777)) }))
	case typeRmdir:
		name := s.path(p)
		return s.done(id, checked(p, func() error { return unix.Rmdir(name) }))
	case typeRealpath:
		return s.realPath(id, p)
	case typeRename:
		from, to := s.path(p), s.path(p)
		return s.done(id, checked(p, func() error { return renameNew(from, to) }))
	case typeReadlink:
		return s.readLink(id, p)
	case typeSymlink:
		// OpenSSH sends the target first, contrary to the draft, and other clients follow it.
		target, name := p.string(), s.path(p)
		return s.done(id, checked(p, func() error { return unix.Symlink(target, name) }))
	case typeExtended:
		return s.extended(id, p)
	}
	return errUnsupported
}

func checked(p *parser, act func() error) error {
	if p.failed {
		return errMalformed
	}
	return act()
}

func (s *server) done(id uint32, err error) error {
	if err == nil {
		s.status(id, nil)
	}
	return err
}

func (s *server) path(p *parser) string {
	name := p.string()
	if strings.Contains(name, "\x00") {
		p.failed = true
	}
	if !strings.HasPrefix(name, "/") {
		name = s.folder + "/" + name
	}
	return name
}

func (s *server) keep(id uint32, h *handle) error {
	s.next++
	name := strconv.FormatUint(s.next, 36)
	s.handles[name] = h
	s.reply.begin(typeHandle, id)
	s.reply.string(name)
	return nil
}

func (s *server) find(p *parser) (*handle, error) {
	name := p.string()
	if p.failed {
		return nil, errMalformed
	}
	h := s.handles[name]
	if h == nil {
		return nil, errBadHandle
	}
	return h, nil
}

func (s *server) file(p *parser) (*handle, error) {
	h, err := s.find(p)
	if err == nil && h.folder != nil {
		return nil, unix.EISDIR
	}
	return h, err
}

func (s *server) close(name string) error {
	h := s.handles[name]
	if h == nil {
		return errBadHandle
	}
	delete(s.handles, name)
	return h.close()
}

func (h *handle) close() error {
	if h.folder != nil {
		return h.folder.Close()
	}
	return unix.Close(h.fd)
}

func (s *server) closeAll() {
	for _, h := range s.handles {
		_ = h.close()
	}
}

func (s *server) realPath(id uint32, p *parser) error {
	name := s.path(p)
	if p.failed {
		return errMalformed
	}
	resolved, err := filepath.EvalSymlinks(name)
	if err != nil {
		resolved = path.Clean(name) // a missing path has a canonical name, too
	}
	s.name(id, resolved)
	return nil
}

func (s *server) readLink(id uint32, p *parser) error {
	name := s.path(p)
	if p.failed {
		return errMalformed
	}
	target, err := os.Readlink(name)
	if err == nil {
		s.name(id, target)
	}
	return err
}

func (s *server) name(id uint32, name string) {
	s.reply.begin(typeName, id)
	s.reply.uint32(1)
	s.reply.string(name)
	s.reply.string(name)
	s.reply.uint32(0)
}
