package agent

import (
	"path"

	"golang.org/x/sys/unix"

	"svc.dev/sandbox-agent/internal/frame"
)

// maxUnsized bounds files without a size, which are held in memory as a whole.
const maxUnsized = 1 << 20

// readFile sends the file's entry as an event, then at most length bytes from offset.
func readFile(s *stream, r *request) (any, *failure) {
	if failed := checkPath(r.Path); failed != nil {
		return nil, failed
	}
	// Non-blocking, so that a FIFO without a writer cannot block the helper before fstat has identified it.
	fd, err := unix.Open(r.Path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fromError(err)
	}
	defer unix.Close(fd)
	stat, failed := regular(fd, r.Path)
	if failed != nil {
		return nil, failed
	}
	var content []byte // of a file that reports no size
	if stat.Size == 0 {
		if content, failed = readUnsized(fd, r.Path); failed != nil {
			return nil, failed
		}
		stat.Size = int64(len(content))
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
		piece := buffer[dataHead : dataHead+int(min(left, int64(len(buffer)-dataHead)))]
		n, err := 0, error(nil)
		if content != nil {
			n = copy(piece, content[min(offset, int64(len(content))):])
		} else {
			n, err = unix.Pread(fd, piece, offset)
		}
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, fromError(err)
		}
		if n == 0 {
			break // truncated while being read
		}
		if !s.sendData(channelStdout, buffer, n) {
			return nil, fail("ABORTED", "the stream was reset")
		}
		offset, left, sent = offset+int64(n), left-int64(n), sent+int64(n)
	}
	return map[string]any{"bytes": sent}, nil
}

// readUnsized reads files that procfs and sysfs generate and whose size is 0. It returns nil for an empty file.
func readUnsized(fd int, name string) ([]byte, *failure) {
	var content []byte
	buffer := make([]byte, 64<<10)
	for {
		n, err := unix.Read(fd, buffer)
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN || err == nil && n == 0: // EAGAIN is the end of a queue, such as /proc/kmsg
			return content, nil
		case err != nil:
			return nil, fromError(err)
		}
		content = append(content, buffer[:n]...)
		if len(content) > maxUnsized {
			return nil, fail("NOT_A_FILE", name+" does not report its size and is too large")
		}
	}
}

func regular(fd int, name string) (*unix.Stat_t, *failure) {
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return nil, fromError(err)
	}
	switch stat.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return &stat, nil
	case unix.S_IFDIR:
		return nil, fail("IS_A_DIRECTORY", name+" is a directory")
	}
	return nil, fail("NOT_A_FILE", name+" is not a regular file")
}
