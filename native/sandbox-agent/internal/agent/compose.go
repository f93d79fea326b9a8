package agent

import "golang.org/x/sys/unix"

// composeStep bounds one copy in the kernel, so that an operation that was given up ends soon.
const composeStep = 16 << 20

// source is a file that was copied, as it was then.
type source struct {
	path string
	stat *unix.Stat_t
}

// composeFile concatenates files into one that replaces the target at once, then removes them. Before that, a failure
// leaves everything as it was. A source that was replaced meanwhile stays, and so does the target if it is a source too.
func composeFile(s *stream, r *request) (any, *failure) {
	w, failed := openWriting(r)
	if failed != nil {
		return nil, failed
	}
	defer unix.Close(w.folder)
	old, failed := w.look()
	if failed != nil {
		return nil, failed
	}
	var sources []source
	placed, failed := w.replace(r, old, func(fd int) *failure {
		for _, path := range r.Sources {
			stat, failed := appendSource(s, fd, path)
			if failed != nil {
				failed.Path = path
				return failed
			}
			sources = append(sources, source{path, stat})
		}
		return nil
	})
	if failed != nil {
		return nil, failed
	}
	for _, each := range sources {
		each.remove(&placed.stat)
	}
	return placed.result(w.name), nil
}

// appendSource copies in the kernel, and stops when the stream is over.
func appendSource(s *stream, target int, path string) (*unix.Stat_t, *failure) {
	if failed := checkPath(path); failed != nil {
		return nil, failed
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fromError(err)
	}
	defer unix.Close(fd)
	stat, failed := regular(fd, path)
	if failed != nil {
		return nil, failed
	}
	for {
		select {
		case <-s.done:
			return nil, fail("ABORTED", "the stream was reset")
		default:
		}
		n, err := unix.CopyFileRange(fd, nil, target, nil, composeStep, 0)
		if err == unix.EINTR {
			continue
		}
		if err == unix.EXDEV || err == unix.EINVAL || err == unix.EOPNOTSUPP {
			n, err = unix.Sendfile(target, fd, nil, composeStep) // between file systems that cannot share
		}
		if err != nil {
			return nil, fromError(err)
		}
		if n == 0 {
			return stat, nil
		}
	}
}

// remove unlinks the source unless its path leads to the composed file, or to another one by now.
func (s source) remove(composed *unix.Stat_t) {
	var now unix.Stat_t
	if unix.Stat(s.path, &now) != nil || now.Ino != s.stat.Ino || now.Dev != s.stat.Dev {
		return
	}
	if now.Ino == composed.Ino && now.Dev == composed.Dev {
		return
	}
	_ = unix.Unlink(s.path)
}
