package agent

import (
	"path"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"svc.dev/sandbox-agent/internal/fsat"
)

// placing is held from the check of a file until the rename that replaces it, so that only one of two writes under the
// same condition succeeds. It does not lock out programs of the sandbox.
var placing sync.Mutex

// writing is a file being written. Its folder is opened once and everything is done relative to that descriptor, so
// that replacing a link or a folder in the meantime cannot redirect the write or leave a temporary file behind.
type writing struct {
	folder int
	name   string
	shown  string
	when   *precondition
	// owner of a new file; nil for root.
	owner *user
}

// placed is a file that was put in place.
type placed struct {
	created bool
	stat    unix.Stat_t
}

func (p *placed) result(name string) map[string]any {
	return map[string]any{"created": p.created, "entry": entryOf(name, &p.stat)}
}

// writeFile reads the stream's data until eof and then replaces the file atomically. After a reset or with a full disk,
// the old file remains.
func writeFile(s *stream, r *request) (any, *failure) {
	w, failed := openWriting(r)
	if failed != nil {
		return nil, failed
	}
	defer unix.Close(w.folder)
	old, failed := w.look()
	if failed != nil {
		return nil, failed
	}
	if r.Append && old != nil {
		return w.extend(s)
	}
	placed, failed := w.replace(r, old, func(fd int) *failure { return receive(s, fd) })
	if failed != nil {
		return nil, failed
	}
	return placed.result(w.name), nil
}

// openWriting opens the folder of the request's path, which the caller closes.
func openWriting(r *request) (*writing, *failure) {
	if failed := checkPath(r.Path); failed != nil {
		return nil, failed
	}
	owner, failed := ownerOf(r)
	if failed != nil {
		return nil, failed
	}
	target := path.Clean(r.Path)
	if r.Parents {
		if failed := makeDirectories(path.Dir(target), 0o755, owner); failed != nil {
			return nil, failed
		}
	}
	if resolved, err := filepath.EvalSymlinks(target); err == nil {
		target = resolved // writes follow links, as open(2) does
	}
	folder, err := unix.Open(path.Dir(target), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fromError(err)
	}
	return &writing{folder: folder, name: path.Base(target), shown: target, when: r.When, owner: owner}, nil
}

// look returns the file to be replaced, nil if there is none. It fails if the path is not a regular file or the
// condition does not hold.
func (w *writing) look() (*unix.Stat_t, *failure) {
	old, err := fsat.Lstat(w.folder, w.name)
	if err == unix.ENOENT {
		old = nil
	} else if err != nil {
		return nil, fromError(err)
	} else if old.Mode&unix.S_IFMT == unix.S_IFDIR {
		return nil, fail("IS_A_DIRECTORY", w.shown+" is a directory")
	} else if old.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, fail("NOT_A_FILE", w.shown+" is not a regular file")
	}
	if !w.when.holds(old) {
		return nil, w.refused()
	}
	return old, nil
}

func (w *writing) refused() *failure {
	return fail("PRECONDITION_FAILED", w.shown+" does not meet the condition")
}

// replace puts a file that `fill` writes in place of the old one, with its owner and mode.
func (w *writing) replace(r *request, old *unix.Stat_t, fill func(fd int) *failure) (*placed, *failure) {
	mode := uint32(0o644)
	if old != nil {
		mode = old.Mode & 0o7777
	}
	if r.Mode != nil {
		mode = uint32(*r.Mode) & 0o7777
	}
	prefix := writePrefix
	if old == nil {
		prefix = createPrefix
	}
	temporary := temporaryName(prefix)
	defer leaveMarker(path.Dir(w.shown), temporary)()
	flags := unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Openat(w.folder, temporary, flags, 0o600)
	if err != nil {
		return nil, fromError(err)
	}
	defer unix.Close(fd)
	failed := fill(fd)
	if failed == nil && old != nil {
		failed = orNil(unix.Fchown(fd, int(old.Uid), int(old.Gid)))
	} else if failed == nil && w.owner != nil {
		failed = orNil(unix.Fchown(fd, w.owner.uid, w.owner.gid))
	}
	if failed == nil && (r.Uid != nil || r.Gid != nil) {
		failed = orNil(unix.Fchown(fd, numberOr(r.Uid, -1), numberOr(r.Gid, -1)))
	}
	if failed == nil {
		failed = orNil(unix.Fchmod(fd, mode))
	}
	if failed == nil {
		failed = writeAttributes(fd, r.Attributes)
	}
	if failed == nil && servesVolume {
		failed = orNil(unix.Fsync(fd))
	}
	done := &placed{}
	if failed == nil {
		failed = orNil(unix.Fstat(fd, &done.stat))
	}
	if failed == nil {
		done.created, failed = w.place(temporary)
	}
	if failed != nil {
		_ = unix.Unlinkat(w.folder, temporary, 0)
		return nil, failed
	}
	return done, settle(path.Dir(w.shown))
}

func numberOr(number *uint32, otherwise int) int {
	if number == nil {
		return otherwise
	}
	return int(*number)
}

// place renames the temporary file and reports whether the path was free.
func (w *writing) place(temporary string) (bool, *failure) {
	placing.Lock()
	defer placing.Unlock()
	old, failed := w.look()
	if failed != nil {
		return false, failed
	}
	if w.when != nil && w.when.Absent {
		err := unix.Renameat2(w.folder, temporary, w.folder, w.name, unix.RENAME_NOREPLACE)
		if err == unix.EEXIST {
			return false, w.refused()
		}
		if err != unix.EINVAL { // a file system without RENAME_NOREPLACE: look has checked the path
			return true, orNil(err)
		}
	}
	return old == nil, orNil(unix.Renameat2(w.folder, temporary, w.folder, w.name, 0))
}

func (w *writing) extend(s *stream) (any, *failure) {
	fd, err := unix.Openat(w.folder, w.name, unix.O_WRONLY|unix.O_APPEND|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fromError(err)
	}
	defer unix.Close(fd)
	if _, failed := regular(fd, w.shown); failed != nil {
		return nil, failed
	}
	if failed := receive(s, fd); failed != nil {
		return nil, failed
	}
	if servesVolume {
		if err := unix.Fsync(fd); err != nil {
			return nil, fromError(err)
		}
	}
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return nil, fromError(err)
	}
	return map[string]any{"created": false, "entry": entryOf(w.name, &stat)}, nil
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
			n, err := unix.Write(fd, chunk[written:])
			if err == unix.EINTR {
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
