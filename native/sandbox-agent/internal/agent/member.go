package agent

import (
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	maxMemberDepth = 256
	maxMemberBytes = 255
)

var errAborted = errors.New("the stream was reset")

// inboxReader reads the stream's data and grants credit as it is consumed.
type inboxReader struct {
	stream  *stream
	payload []byte
	chunk   []byte
	total   int64
}

func (r *inboxReader) Read(p []byte) (int, error) {
	for len(r.chunk) == 0 {
		if r.payload != nil {
			r.stream.consumed(r.payload)
			r.payload = nil
		}
		payload, aborted := r.stream.in.next()
		if aborted {
			return 0, errAborted
		}
		if payload == nil {
			return 0, io.EOF
		}
		r.payload, r.chunk = payload, payload[1:]
	}
	n := copy(p, r.chunk)
	r.chunk = r.chunk[n:]
	r.total += int64(n)
	return n, nil
}

// memberName rejects names that lead out of the folder or that no file system accepts.
func memberName(name string) (string, error) {
	if name == "" || strings.ContainsRune(name, 0) {
		return "", refusedMember(name, "has no name, or its name contains NUL")
	}
	if len(name) > 4096 {
		return "", refusedMember(name, "has a path that is too long")
	}
	if strings.HasPrefix(name, "/") {
		return "", refusedMember(name, "has an absolute path")
	}
	parts := strings.Split(name, "/")
	if len(parts) > maxMemberDepth {
		return "", refusedMember(name, "is nested too deeply")
	}
	for _, part := range parts {
		if part == ".." {
			return "", refusedMember(name, "leads out of the folder with ..")
		}
		if len(part) > maxMemberBytes {
			return "", refusedMember(name, "has a name that is too long")
		}
	}
	return path.Clean("./" + name), nil
}

func refusedMember(name, what string) *failure {
	return fail("ARCHIVE_REFUSED", fmt.Sprintf("entry %q %s", shownName(name), what))
}

func malformedArchive(reason string) *failure { return fail("ARCHIVE_MALFORMED", reason) }

func archiveTooLarge(reason string) *failure { return fail("ARCHIVE_TOO_LARGE", reason) }

func asArchiveError(err error) error {
	var known *failure
	var errno unix.Errno
	switch {
	case err == errAborted, errors.As(err, &known), errors.As(err, &errno):
		return err
	case err == io.ErrUnexpectedEOF:
		return malformedArchive("it ends in the middle")
	}
	return malformedArchive("not a tar archive: " + err.Error())
}

func archiveFailure(err error) *failure {
	var known *failure
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, errAborted):
		return fail("ABORTED", errAborted.Error())
	}
	return fromError(err)
}

func shownName(name string) string {
	if len(name) > 200 {
		return name[:200] + "…"
	}
	return name
}
