package agent

import (
	"os"
	"path"
	"path/filepath"
	"syscall"
	"unsafe"

	"svc.dev/sandbox-agent/internal/frame"
)

// readFile sends the stat as an event, then the bytes from offset, at most length.
func readFile(s *stream, r *request) (any, *failure) {
	if failed := checkPath(r.Path); failed != nil {
		return nil, failed
	}
	// Non-blocking: a FIFO without a writer must not hold us before fstat has told what it is.
	fd, err := syscall.Open(r.Path, syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, fromError(err)
	}
	defer syscall.Close(fd)
	stat, failed := regular(fd, r.Path)
	if failed != nil {
		return nil, failed
	}
	e := entryOf(path.Base(path.Clean(r.Path)), stat)
	s.event(map[string]any{"type": "stat", "entry": e})
	left := max(stat.Size-r.Offset, 0)
	if r.Length != nil {
		left = min(left, max(*r.Length, 0))
	}
	offset := max(r.Offset, 0)
	buffer := make([]byte, dataHead+min(left, frame.MaxDataBytes))
	sent := int64(0)
	for left > 0 {
		n, err := syscall.Pread(fd, buffer[dataHead:dataHead+int(min(left, int64(len(buffer)-dataHead)))], offset)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return nil, fromError(err)
		}
		if n == 0 {
			break // cut while we read
		}
		if !s.sendData(channelStdout, buffer, n) {
			return nil, fail("ABORTED", "the stream was reset")
		}
		offset, left, sent = offset+int64(n), left-int64(n), sent+int64(n)
	}
	return map[string]any{"bytes": sent}, nil
}

func regular(fd int, name string) (*syscall.Stat_t, *failure) {
	var stat syscall.Stat_t
	if err := syscall.Fstat(fd, &stat); err != nil {
		return nil, fromError(err)
	}
	switch stat.Mode & syscall.S_IFMT {
	case syscall.S_IFREG:
		return &stat, nil
	case syscall.S_IFDIR:
		return nil, fail("IS_A_DIRECTORY", name+" is a directory")
	}
	return nil, fail("NOT_A_FILE", name+" is not a regular file")
}

// writeFile takes the stream's data until eof and puts it in place at once: a reset or a full disk leaves the old file.
func writeFile(s *stream, r *request) (any, *failure) {
	if failed := checkPath(r.Path); failed != nil {
		return nil, failed
	}
	target := path.Clean(r.Path)
	if r.Parents {
		if err := os.MkdirAll(path.Dir(target), 0o755); err != nil {
			return nil, fromError(err)
		}
	}
	if resolved, err := filepath.EvalSymlinks(target); err == nil {
		target = resolved // a link is written through, as open() would
	}
	var old syscall.Stat_t
	exists := syscall.Lstat(target, &old) == nil
	if exists && old.Mode&syscall.S_IFMT == syscall.S_IFDIR {
		return nil, fail("IS_A_DIRECTORY", target+" is a directory")
	}
	if exists && old.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return nil, fail("NOT_A_FILE", target+" is not a regular file")
	}
	if r.Append && exists {
		return appendFile(s, target)
	}
	mode := uint32(0o644)
	if exists {
		mode = old.Mode & 0o7777
	}
	if r.Mode != nil {
		mode = uint32(*r.Mode) & 0o7777
	}
	temporary := temporaryName(target)
	fd, err := syscall.Open(temporary, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_EXCL|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, fromError(err)
	}
	defer syscall.Close(fd)
	failed := receive(s, fd)
	if failed == nil && exists {
		failed = orNil(syscall.Fchown(fd, int(old.Uid), int(old.Gid)))
	}
	if failed == nil {
		failed = orNil(syscall.Fchmod(fd, mode))
	}
	var stat syscall.Stat_t
	if failed == nil {
		failed = orNil(syscall.Fstat(fd, &stat))
	}
	if failed == nil {
		failed = orNil(syscall.Rename(temporary, target))
	}
	if failed != nil {
		_ = syscall.Unlink(temporary)
		return nil, failed
	}
	return map[string]any{"created": !exists, "entry": entryOf(path.Base(target), &stat)}, nil
}

func appendFile(s *stream, target string) (any, *failure) {
	fd, err := syscall.Open(target, syscall.O_WRONLY|syscall.O_APPEND|syscall.O_NONBLOCK|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, fromError(err)
	}
	defer syscall.Close(fd)
	if _, failed := regular(fd, target); failed != nil {
		return nil, failed
	}
	if failed := receive(s, fd); failed != nil {
		return nil, failed
	}
	var stat syscall.Stat_t
	if err := syscall.Fstat(fd, &stat); err != nil {
		return nil, fromError(err)
	}
	return map[string]any{"created": false, "entry": entryOf(path.Base(target), &stat)}, nil
}

func receive(s *stream, fd int) *failure {
	s.transfer()
	for {
		payload, aborted := s.in.next()
		if aborted {
			return fail("ABORTED", "the stream was reset")
		}
		if payload == nil {
			return nil
		}
		chunk := payload[1:]
		for written := 0; written < len(chunk); {
			n, err := syscall.Write(fd, chunk[written:])
			if err == syscall.EINTR {
				continue
			}
			if err != nil {
				return fromError(err)
			}
			written += n
		}
		s.consumed(payload)
	}
}

func orNil(err error) *failure {
	if err == nil {
		return nil
	}
	return fromError(err)
}

func renameat2(from, to string, flags uintptr) error {
	fromPointer, err := syscall.BytePtrFromString(from)
	if err != nil {
		return err
	}
	toPointer, err := syscall.BytePtrFromString(to)
	if err != nil {
		return err
	}
	atCwd := -100
	_, _, errno := syscall.Syscall6(sysRenameat2, uintptr(atCwd), uintptr(unsafe.Pointer(fromPointer)),
		uintptr(atCwd), uintptr(unsafe.Pointer(toPointer)), flags, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
