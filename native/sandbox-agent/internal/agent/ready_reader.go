package agent

import (
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// readyReader reads everything that is available: one read(2) of a terminal returns at most a page, and each piece has
// a fixed cost on its way to the client.
type readyReader struct {
	raw    syscall.RawConn
	into   []byte
	n      int
	failed error
	// Created once: a closure for each read would be an allocation for each page.
	wait func(fd uintptr) bool
	look func(fd uintptr)
}

func newReadyReader(file *os.File) *readyReader {
	r := &readyReader{}
	raw, err := file.SyscallConn()
	if err != nil {
		r.failed = err
		return r
	}
	r.raw = raw
	r.look = r.fill
	r.wait = func(fd uintptr) bool {
		r.fill(fd)
		return r.n > 0 || r.failed != nil
	}
	return r
}

// read waits for the first bytes until the file's deadline.
func (r *readyReader) read(p []byte) (int, error) {
	if r.raw == nil {
		return 0, r.failed
	}
	r.into, r.n, r.failed = p, 0, nil
	if err := r.raw.Read(r.wait); err != nil && r.n == 0 {
		return 0, err
	}
	return r.n, r.failed
}

// readNow does not wait, and works after a deadline has passed.
func (r *readyReader) readNow(p []byte) int {
	if r.raw == nil {
		return 0
	}
	r.into, r.n, r.failed = p, 0, nil
	_ = r.raw.Control(r.look)
	return r.n
}

func (r *readyReader) fill(fd uintptr) {
	for r.n < len(r.into) {
		n, err := unix.Read(int(fd), r.into[r.n:])
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN:
			return
		case err != nil:
			r.failed = err
			return
		case n == 0:
			r.failed = io.EOF
			return
		}
		r.n += n
	}
}
