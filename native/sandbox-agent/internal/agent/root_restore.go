package agent

import (
	"archive/tar"
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"svc.dev/sandbox-agent/internal/fsat"
)

const compareBytes = 64 << 10

var zeros [compareBytes]byte

// restoreRoot makes the files of the sandbox those of an archive of `root.save`. Files that are equal already are kept, so
// that they take no space above the image. The sandbox must not have been started: after a failure, it is of no use.
func restoreRoot(s *stream, r *request) (any, *failure) {
	if os.Getpid() != 1 { // it removes files, which must never be those of a machine
		return nil, fail("UNKNOWN_OPERATION", "root.restore is for PID 1 of a sandbox")
	}
	if r.MaxEntries <= 0 || r.MaxBytes <= 0 {
		return nil, archiveTooLarge("the request has no limits")
	}
	if r.Architecture != runtime.GOARCH {
		return nil, fail("ARCHIVE_REFUSED", fmt.Sprintf("its files are for %s, and this node is %s", r.Architecture, runtime.GOARCH))
	}
	s.transfer()
	report, err := restoreInto("/", &inboxReader{stream: s}, r)
	if err != nil {
		return nil, archiveFailure(err)
	}
	return report, nil
}

type restoreReport struct {
	Entries int64 `json:"entries"`
	// Written counts the bytes that were not there yet.
	Written int64 `json:"written"`
	Removed int64 `json:"removed"`
}

func restoreInto(root string, content io.Reader, r *request) (*restoreReport, error) {
	mounts, err := foreignMounts(root)
	if err != nil {
		return nil, err
	}
	fd, err := unix.Open(root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	x := &restoration{request: r, mounts: mounts, root: fd, one: make([]byte, compareBytes), two: make([]byte, compareBytes)}
	if r.Op == "root.restore" {
		x.disk = diskFolders
	}
	x.stack = []openFolder{{path: "", fd: fd, seen: map[string]bool{}}}
	defer x.close()
	buffered := bufio.NewReaderSize(content, 64<<10)
	archive := tar.NewReader(buffered)
	for {
		header, err := archive.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, asArchiveError(err)
		}
		if err := x.member(header, archive); err != nil {
			return nil, err
		}
	}
	if _, err := io.Copy(io.Discard, buffered); err != nil {
		return nil, asArchiveError(err)
	}
	for len(x.stack) > 0 {
		if err := x.leave(); err != nil {
			return nil, err
		}
	}
	return &x.report, nil
}

// openFolder is a folder whose members are being restored.
type openFolder struct {
	path string
	fd   int
	// seen are the names that the archive has in it; all others are removed.
	seen map[string]bool
	at   time.Time
}

// restoration applies an archive that lists each folder before its members and all of them together. The stack has the
// folders on the way to the current member.
type restoration struct {
	request *request
	mounts  map[string]bool
	// disk are the folders in the root that stay.
	disk   []string
	root   int
	stack  []openFolder
	bytes  int64
	report restoreReport
	one    []byte
	two    []byte
}

func (x *restoration) close() {
	for _, each := range x.stack {
		_ = unix.Close(each.fd)
	}
}

func (x *restoration) member(header *tar.Header, content io.Reader) error {
	if x.report.Entries++; x.report.Entries > x.request.MaxEntries {
		return archiveTooLarge(fmt.Sprintf("it has more than %d entries", x.request.MaxEntries))
	}
	name, err := memberName(header.Name)
	if err != nil {
		return err
	}
	folder := path.Dir(name)
	if folder == "." {
		folder = ""
	}
	for x.top().path != folder {
		if len(x.stack) == 1 {
			return malformedArchive("its members are not in order")
		}
		if err := x.leave(); err != nil {
			return err
		}
	}
	parent := x.top()
	base := path.Base(name)
	parent.seen[base] = true
	if x.mounts["/"+name] {
		return nil
	}
	if header.Typeflag == tar.TypeDir {
		return x.folder(parent.fd, base, name, header)
	}
	if x.hasMountBelow(name) {
		return refusedMember(header.Name, "takes the place of a folder with a mount")
	}
	if slices.Contains(x.disk, name) {
		return refusedMember(header.Name, "takes the place of a folder of the sandbox's disk")
	}
	switch header.Typeflag {
	case tar.TypeReg:
		return x.file(parent.fd, base, header, content)
	case tar.TypeSymlink:
		return x.symlink(parent.fd, base, header)
	case tar.TypeLink:
		return x.link(parent.fd, base, header)
	case tar.TypeFifo:
		return x.fifo(parent.fd, base, header)
	}
	return refusedMember(header.Name, fmt.Sprintf("has the unknown type %q", header.Typeflag))
}

func (x *restoration) top() *openFolder { return &x.stack[len(x.stack)-1] }

// leave removes what the archive does not have in the folder, and sets the folder's time.
func (x *restoration) leave() error {
	folder := *x.top()
	names, err := fsat.Names(folder.fd)
	if err != nil {
		return err
	}
	for _, name := range names {
		whole := path.Join(folder.path, name)
		if folder.seen[name] || x.mounts["/"+whole] || x.hasMountBelow(whole) {
			continue
		}
		remove := fsat.Remove
		if slices.Contains(x.disk, whole) {
			remove = fsat.Empty // a mount point stays
		}
		if err := remove(folder.fd, name); err != nil {
			return err
		}
		x.report.Removed++
	}
	x.stack = x.stack[:len(x.stack)-1]
	_ = unix.Close(folder.fd)
	if len(x.stack) > 0 {
		x.setTime(x.top().fd, path.Base(folder.path), folder.at)
	}
	return nil
}

func (x *restoration) hasMountBelow(name string) bool {
	for mount := range x.mounts {
		if strings.HasPrefix(mount, "/"+name+"/") {
			return true
		}
	}
	return false
}

func (x *restoration) folder(parent int, base, name string, header *tar.Header) error {
	if len(x.stack) > maxMemberDepth {
		return refusedMember(header.Name, "is nested too deeply")
	}
	if kind, err := kindOf(parent, base); err != nil {
		return err
	} else if kind != unix.S_IFDIR {
		if err := x.makeWay(parent, base); err != nil {
			return err
		}
		if err := unix.Mkdirat(parent, base, 0o700); err != nil {
			return err
		}
	}
	fd, err := fsat.OpenFolder(parent, base)
	if err != nil {
		return err
	}
	if err := adopt(fd, header); err != nil {
		_ = unix.Close(fd)
		return err
	}
	x.stack = append(x.stack, openFolder{path: name, fd: fd, seen: map[string]bool{}, at: header.ModTime})
	return nil
}

func (x *restoration) file(parent int, base string, header *tar.Header, content io.Reader) error {
	if header.Size < 0 || header.Size > x.request.MaxBytes-x.bytes {
		return archiveTooLarge(fmt.Sprintf("its files have more than %d bytes", x.request.MaxBytes))
	}
	x.bytes += header.Size
	old := x.comparable(parent, base, header.Size)
	if old >= 0 {
		defer unix.Close(old)
	}
	equal, rest, err := x.compare(old, content)
	if err != nil {
		return err
	}
	fd := old
	if old < 0 || equal < header.Size {
		if err := x.makeWay(parent, base); err != nil {
			return err
		}
		flags := unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW | unix.O_CLOEXEC
		if fd, err = unix.Openat(parent, base, flags, 0o600); err != nil {
			return err
		}
		defer unix.Close(fd)
		if err := x.write(fd, old, equal, rest, content, header.Size); err != nil {
			return err
		}
		x.report.Written += header.Size
	}
	if err := adopt(fd, header); err != nil {
		return err
	}
	x.setTime(parent, base, header.ModTime)
	return nil
}

// comparable opens the file in this place if it may have the same content: -1 if there is none, or if it has other names, which
// a change of its owner would affect.
func (x *restoration) comparable(parent int, base string, size int64) int {
	stat, err := fsat.Lstat(parent, base)
	if err != nil || stat.Mode&unix.S_IFMT != unix.S_IFREG || stat.Nlink > 1 || stat.Size != size {
		return -1
	}
	fd, err := unix.Openat(parent, base, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	return fd
}

// compare reads the content as long as it equals the file's. It returns how many bytes do, and what it read beyond.
func (x *restoration) compare(old int, content io.Reader) (int64, []byte, error) {
	if old < 0 {
		return 0, nil, nil
	}
	for equal := int64(0); ; {
		n, err := io.ReadFull(content, x.one)
		if n > 0 {
			m, readErr := readFull(old, x.two[:n], equal)
			if readErr != nil {
				return 0, nil, readErr
			}
			if m < n || string(x.one[:n]) != string(x.two[:n]) {
				return equal, x.one[:n], nil
			}
			equal += int64(n)
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return equal, nil, nil
		}
		if err != nil {
			return 0, nil, asArchiveError(err)
		}
	}
}

// write copies what is equal from the old file, then writes the rest of the content. Blocks of zeros become holes, as
// they mostly were.
func (x *restoration) write(fd, old int, equal int64, rest []byte, content io.Reader, size int64) error {
	for offset := int64(0); offset < equal; {
		n, err := readFull(old, x.two[:min(equal-offset, int64(len(x.two)))], offset)
		if err != nil {
			return err
		}
		if n == 0 {
			return unix.EIO
		}
		if err := writeAll(fd, x.two[:n]); err != nil {
			return err
		}
		offset += int64(n)
	}
	if err := writeAll(fd, rest); err != nil {
		return err
	}
	written := equal + int64(len(rest))
	for {
		n, err := io.ReadFull(content, x.two)
		written += int64(n)
		if n == len(x.two) && bytes.Equal(x.two, zeros[:]) {
			if _, failed := unix.Seek(fd, int64(n), io.SeekCurrent); failed != nil {
				return failed
			}
		} else if failed := writeAll(fd, x.two[:n]); failed != nil {
			return failed
		}
		if err == nil {
			continue
		}
		if err != io.EOF && (err != io.ErrUnexpectedEOF || written != size) {
			return asArchiveError(err)
		}
		return unix.Ftruncate(fd, size) // it may end in a hole
	}
}

func (x *restoration) symlink(parent int, base string, header *tar.Header) error {
	if target, err := fsat.ReadLink(parent, base); err != nil || target != header.Linkname {
		if err := x.makeWay(parent, base); err != nil {
			return err
		}
		if err := unix.Symlinkat(header.Linkname, parent, base); err != nil {
			return err
		}
	}
	if err := chownAt(parent, base, header); err != nil {
		return err
	}
	x.setTime(parent, base, header.ModTime)
	return nil
}

func (x *restoration) fifo(parent int, base string, header *tar.Header) error {
	if err := x.makeWay(parent, base); err != nil {
		return err
	}
	if err := unix.Mknodat(parent, base, unix.S_IFIFO|uint32(header.Mode&0o777), 0); err != nil {
		return err
	}
	if err := chownAt(parent, base, header); err != nil {
		return err
	}
	x.setTime(parent, base, header.ModTime)
	return nil
}

func (x *restoration) makeWay(parent int, base string) error {
	if err := fsat.Remove(parent, base); err != nil && err != unix.ENOENT {
		return err
	}
	return nil
}

// setTime leaves a file alone that has the time: a change would copy it up from the image.
func (x *restoration) setTime(parent int, base string, at time.Time) {
	stat, err := fsat.Lstat(parent, base)
	if err == nil && stat.Mtim.Nano() != at.UnixNano() {
		fsat.SetTime(parent, base, at)
	}
}
