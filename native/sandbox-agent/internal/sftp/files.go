package sftp

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

const (
	openRead      = 1
	openWrite     = 2
	openAppend    = 4
	openCreate    = 8
	openTruncate  = 16
	openExclusive = 32
)

func (s *server) open(id uint32, p *parser) error {
	name, wanted, a := s.path(p), p.uint32(), p.attributes()
	if p.failed {
		return errMalformed
	}
	if len(s.handles) >= maxHandles {
		return errTooMany
	}
	// A FIFO or device must not block, and a terminal must not become the controlling one.
	flags := unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOCTTY
	switch wanted & (openRead | openWrite) {
	case openRead | openWrite:
		flags |= unix.O_RDWR
	case openWrite:
		flags |= unix.O_WRONLY
	}
	for bit, flag := range map[uint32]int{
		openAppend: unix.O_APPEND, openCreate: unix.O_CREAT, openTruncate: unix.O_TRUNC, openExclusive: unix.O_EXCL,
	} {
		if wanted&bit != 0 {
			flags |= flag
		}
	}
	fd, err := unix.Open(name, flags, creationMode(a, 0o666))
	if err != nil {
		return err
	}
	var stat unix.Stat_t
	if err = unix.Fstat(fd, &stat); err == nil && stat.Mode&unix.S_IFMT != unix.S_IFREG {
		err = errNotAFile
	}
	if err != nil {
		_ = unix.Close(fd)
		return err
	}
	return s.keep(id, &handle{fd: fd, isAppend: wanted&openAppend != 0, path: name})
}

func creationMode(a attributes, usual uint32) uint32 {
	if a.flags&attrMode != 0 {
		usual = a.mode
	}
	return usual &^ umask
}

func (s *server) read(id uint32, p *parser) error {
	h, err := s.file(p)
	if err != nil {
		return err
	}
	offset, wanted := p.uint64(), p.uint32()
	if p.failed {
		return errMalformed
	}
	s.reply.begin(typeData, id)
	head := len(s.reply.buffer) + 4
	s.reply.uint32(0)
	length := min(int(wanted), maxDataBytes)
	if cap(s.reply.buffer) < head+length {
		s.reply.buffer = append(make([]byte, 0, head+maxDataBytes), s.reply.buffer...)
	}
	n, err := pread(h.fd, s.reply.buffer[head:head+length], int64(offset))
	if err != nil {
		return err
	}
	if n == 0 && length > 0 {
		return errEOF
	}
	s.reply.buffer = s.reply.buffer[:head-4]
	s.reply.uint32(uint32(n))
	s.reply.buffer = s.reply.buffer[:head+n]
	return nil
}

func pread(fd int, buffer []byte, offset int64) (int, error) {
	for {
		n, err := unix.Pread(fd, buffer, offset)
		if err != unix.EINTR {
			return n, err
		}
	}
}

func (s *server) write(p *parser) error {
	h, err := s.file(p)
	if err != nil {
		return err
	}
	offset, data := int64(p.uint64()), p.bytes()
	if p.failed {
		return errMalformed
	}
	for len(data) > 0 {
		var n int
		if h.isAppend {
			n, err = unix.Write(h.fd, data)
		} else {
			n, err = unix.Pwrite(h.fd, data, offset)
		}
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		data = data[n:]
		offset += int64(n)
	}
	return nil
}

func (s *server) stat(kind byte, id uint32, p *parser) error {
	var stat unix.Stat_t
	var err error
	if kind == typeFstat {
		h, failed := s.find(p)
		if failed != nil {
			return failed
		}
		err = unix.Fstat(h.descriptor(), &stat)
	} else {
		name := s.path(p)
		if p.failed {
			return errMalformed
		}
		look := unix.Stat
		if kind == typeLstat {
			look = unix.Lstat
		}
		err = look(name, &stat)
	}
	if err == nil {
		s.reply.begin(typeAttrs, id)
		s.reply.stat(&stat)
	}
	return err
}

func (h *handle) descriptor() int {
	if h.folder != nil {
		return int(h.folder.Fd())
	}
	return h.fd
}

func (s *server) setOpen(p *parser) error {
	h, err := s.find(p)
	if err != nil {
		return err
	}
	a := p.attributes()
	if p.failed {
		return errMalformed
	}
	// The kernel resolves this name to the open file itself, even if its path has changed.
	return setAttributes("/proc/self/fd/"+strconv.Itoa(h.descriptor()), a, true)
}

func setAttributes(name string, a attributes, follow bool) error {
	var failures []error
	if a.flags&attrSize != 0 {
		failures = append(failures, unix.Truncate(name, int64(a.size)))
	}
	flags := 0
	if !follow {
		flags = unix.AT_SYMLINK_NOFOLLOW
	}
	if a.flags&attrOwner != 0 {
		failures = append(failures, unix.Fchownat(unix.AT_FDCWD, name, int(a.uid), int(a.gid), flags))
	}
	if a.flags&attrMode != 0 { // after the owner, since chown clears special bits
		failures = append(failures, unix.Fchmodat(unix.AT_FDCWD, name, a.mode, flags))
	}
	if a.flags&attrTimes != 0 { // last, since the other changes update the times
		times := []unix.Timespec{{Sec: int64(a.atime)}, {Sec: int64(a.mtime)}}
		failures = append(failures, unix.UtimesNanoAt(unix.AT_FDCWD, name, times, flags))
	}
	return errors.Join(failures...)
}

func (s *server) openFolder(id uint32, p *parser) error {
	name := s.path(p)
	if p.failed {
		return errMalformed
	}
	if len(s.handles) >= maxHandles {
		return errTooMany
	}
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return s.keep(id, &handle{folder: os.NewFile(uintptr(fd), name), path: name})
}

func (s *server) readFolder(id uint32, p *parser) error {
	h, err := s.find(p)
	if err != nil {
		return err
	}
	if h.folder == nil {
		return unix.ENOTDIR
	}
	names, err := h.folder.Readdirnames(namesAtOnce)
	if len(names) == 0 {
		if err == nil || errors.Is(err, io.EOF) {
			return errEOF
		}
		return err
	}
	s.reply.begin(typeName, id)
	at := len(s.reply.buffer)
	s.reply.uint32(0)
	count := uint32(0)
	for _, name := range names {
		var stat unix.Stat_t
		if unix.Fstatat(h.descriptor(), name, &stat, unix.AT_SYMLINK_NOFOLLOW) != nil {
			continue // removed in the meantime
		}
		s.reply.string(name)
		s.reply.string(longName(name, &stat))
		s.reply.stat(&stat)
		count++
	}
	copy(s.reply.buffer[at:], []byte{byte(count >> 24), byte(count >> 16), byte(count >> 8), byte(count)})
	return nil
}

// longName formats a line of `ls -l`, which clients show unchanged.
func longName(name string, stat *unix.Stat_t) string {
	mode := os.FileMode(stat.Mode & 0o777).String()[1:]
	kind := map[uint32]string{
		unix.S_IFDIR: "d", unix.S_IFLNK: "l", unix.S_IFIFO: "p", unix.S_IFSOCK: "s", unix.S_IFCHR: "c", unix.S_IFBLK: "b",
	}[stat.Mode&unix.S_IFMT]
	if kind == "" {
		kind = "-"
	}
	modified := time.Unix(int64(stat.Mtim.Sec), 0).UTC()
	layout := "Jan _2 15:04"
	if age := time.Since(modified); age > 182*24*time.Hour || age < 0 {
		layout = "Jan _2  2006"
	}
	return fmt.Sprintf("%s%s %4d %-8d %-8d %8d %s %s", kind, mode, stat.Nlink, stat.Uid, stat.Gid, stat.Size,
		modified.Format(layout), name)
}

// renameNew fails if the target exists, as version 3 requires.
func renameNew(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	if err != unix.EINVAL && err != unix.ENOSYS {
		return err
	}
	// The file system or kernel does not support RENAME_NOREPLACE.
	var stat unix.Stat_t
	if unix.Lstat(to, &stat) == nil {
		return unix.EEXIST
	}
	return unix.Rename(from, to)
}

func (s *server) extended(id uint32, p *parser) error {
	switch p.string() {
	case "posix-rename@openssh.com":
		from, to := s.path(p), s.path(p)
		return s.done(id, checked(p, func() error { return unix.Rename(from, to) }))
	case "hardlink@openssh.com":
		from, to := s.path(p), s.path(p)
		return s.done(id, checked(p, func() error { return unix.Link(from, to) }))
	case "lsetstat@openssh.com":
		name, a := s.path(p), p.attributes()
		return s.done(id, checked(p, func() error { return setAttributes(name, a, false) }))
	case "fsync@openssh.com":
		h, err := s.file(p)
		if err == nil {
			err = unix.Fsync(h.fd)
		}
		return s.done(id, err)
	case "statvfs@openssh.com":
		name := s.path(p)
		var space unix.Statfs_t
		return s.space(id, &space, checked(p, func() error { return unix.Statfs(name, &space) }))
	case "fstatvfs@openssh.com":
		h, err := s.find(p)
		var space unix.Statfs_t
		if err == nil {
			err = unix.Fstatfs(h.descriptor(), &space)
		}
		return s.space(id, &space, err)
	case "limits@openssh.com":
		s.reply.begin(typeExtendedReply, id)
		for _, limit := range []uint64{maxPacketBytes, maxDataBytes, maxDataBytes, maxHandles} {
			s.reply.uint64(limit)
		}
		return nil
	}
	return errUnsupported
}

func (s *server) space(id uint32, space *unix.Statfs_t, err error) error {
	if err != nil {
		return err
	}
	readOnly := uint64(0)
	if space.Flags&unix.ST_RDONLY != 0 {
		readOnly = 1
	}
	s.reply.begin(typeExtendedReply, id)
	for _, value := range []uint64{
		uint64(space.Bsize), uint64(space.Frsize), space.Blocks, space.Bfree, space.Bavail, space.Files, space.Ffree,
		space.Ffree, 0, readOnly, uint64(space.Namelen),
	} {
		s.reply.uint64(value)
	}
	return nil
}
