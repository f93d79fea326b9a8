package agent

import (
	"archive/tar"
	"bufio"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"svc.dev/sandbox-agent/internal/fsat"
)

// Below this size any compression ratio is allowed: a megabyte of one letter is no attack.
const freeBytes = 64 << 20

type memberTime struct {
	name string
	mode uint32
	at   time.Time
}

// extraction writes the members of an untrusted archive below a folder that is not visible to others yet. Links are
// created unchanged and never followed.
type extraction struct {
	root    int
	parent  int
	at      string
	request *request
	in      *inboxReader
	entries int64
	bytes   int64
	folders []memberTime
	buffer  []byte
}

func newExtraction(root int, s *stream, r *request) *extraction {
	return &extraction{root: root, parent: -1, request: r, in: &inboxReader{stream: s}, buffer: make([]byte, 64<<10)}
}

// run reads a tar stream. The platform has already decompressed it.
func (x *extraction) run() error {
	defer x.forgetParent()
	buffered := bufio.NewReaderSize(x.in, 64<<10)
	first, err := buffered.Peek(1)
	if err == errAborted {
		return err
	}
	if len(first) == 0 {
		return malformedArchive("it is empty")
	}
	archive := tar.NewReader(buffered)
	for {
		header, err := archive.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return asArchiveError(err)
		}
		if err := x.member(header, archive); err != nil {
			return err
		}
	}
	// Only padding follows the end of the archive.
	if err := x.discard(buffered); err != nil {
		return asArchiveError(err)
	}
	return x.finish()
}

func (x *extraction) discard(from io.Reader) error {
	for total := int64(0); ; {
		n, err := from.Read(x.buffer)
		if total += int64(n); total > freeBytes {
			return archiveTooLarge("much follows its end")
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (x *extraction) member(header *tar.Header, content io.Reader) error {
	if header.Typeflag == tar.TypeXGlobalHeader {
		return nil
	}
	if x.entries++; x.entries > x.request.MaxEntries {
		return archiveTooLarge(fmt.Sprintf("it has more than %d entries", x.request.MaxEntries))
	}
	name, err := memberName(header.Name)
	if err != nil {
		return err
	}
	if name == "." {
		if header.Typeflag != tar.TypeDir {
			return refusedMember(header.Name, "would replace the target folder")
		}
		return nil // the existing folder keeps its attributes
	}
	switch header.Typeflag {
	case tar.TypeDir:
		return x.folder(name, header)
	case tar.TypeReg, '\x00', tar.TypeCont, tar.TypeGNUSparse:
		return x.file(name, header, content)
	case tar.TypeSymlink:
		return x.symlink(name, header)
	case tar.TypeLink:
		return x.link(name, header)
	case tar.TypeChar, tar.TypeBlock, tar.TypeFifo:
		return refusedMember(header.Name, "is a device or a FIFO")
	}
	return refusedMember(header.Name, fmt.Sprintf("has the unknown type %q", header.Typeflag))
}

func (x *extraction) folder(name string, header *tar.Header) error {
	parent, base, err := x.locate(name)
	if err != nil {
		return err
	}
	if err := unix.Mkdirat(parent, base, 0o700); err != nil && err != unix.EEXIST {
		return err
	}
	fd, err := fsat.OpenFolder(parent, base)
	if err != nil {
		return refusedMember(header.Name, "is a folder, but the archive already has another entry with this name")
	}
	_ = unix.Close(fd)
	x.folders = append(x.folders, memberTime{name, uint32(header.Mode & 0o7777), header.ModTime})
	return nil
}

func (x *extraction) file(name string, header *tar.Header, content io.Reader) error {
	// Checked before a byte is written: a header may claim any size, and a sparse file may expand to any size.
	if header.Size < 0 || header.Size > x.request.MaxBytes-x.bytes {
		return archiveTooLarge(fmt.Sprintf("its files have more than %d bytes", x.request.MaxBytes))
	}
	parent, base, err := x.makeRoom(name)
	if err != nil {
		return err
	}
	flags := unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Openat(parent, base, flags, 0o600)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := x.copyTo(fd, content); err != nil {
		return err
	}
	if err := unix.Fchmod(fd, uint32(header.Mode&0o7777)); err != nil {
		return err
	}
	fsat.SetTime(parent, base, header.ModTime)
	return nil
}

func (x *extraction) copyTo(fd int, content io.Reader) error {
	for {
		n, err := content.Read(x.buffer)
		x.bytes += int64(n)
		// What a volume gets was counted as it came in: a sparse file must not grow beyond that.
		if (servesVolume || x.bytes > freeBytes) && x.bytes/x.request.MaxRatio > x.in.total {
			return archiveTooLarge(fmt.Sprintf("it grows to more than %d times its size", x.request.MaxRatio))
		}
		for rest := x.buffer[:n]; len(rest) > 0; {
			written, err := unix.Write(fd, rest)
			if err == unix.EINTR {
				continue
			}
			if err != nil {
				return err
			}
			rest = rest[written:]
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return asArchiveError(err)
		}
	}
}

func (x *extraction) symlink(name string, header *tar.Header) error {
	if header.Linkname == "" || len(header.Linkname) >= 4096 || strings.ContainsRune(header.Linkname, 0) {
		return refusedMember(header.Name, "is a link with an invalid target")
	}
	parent, base, err := x.makeRoom(name)
	if err != nil {
		return err
	}
	if err := unix.Symlinkat(header.Linkname, parent, base); err != nil {
		return err
	}
	fsat.SetTime(parent, base, header.ModTime)
	return nil
}

func (x *extraction) link(name string, header *tar.Header) error {
	target, err := memberName(header.Linkname)
	if err != nil {
		return refusedMember(header.Name, "is a hard link to a path outside the archive")
	}
	from, fromBase, err := x.locate(target)
	if err != nil {
		return err
	}
	if from, err = unix.Dup(from); err != nil { // the next lookup closes the previous folder
		return err
	}
	defer unix.Close(from)
	stat, err := fsat.Lstat(from, fromBase)
	if err != nil || stat.Mode&unix.S_IFMT != unix.S_IFREG {
		return refusedMember(header.Name, "is a hard link to a missing file")
	}
	if target == name {
		return nil
	}
	parent, base, err := x.makeRoom(name)
	if err != nil {
		return err
	}
	return unix.Linkat(from, fromBase, parent, base, 0)
}

// makeRoom removes what an earlier member of the same name created, unless it is a folder.
func (x *extraction) makeRoom(name string) (int, string, error) {
	parent, base, err := x.locate(name)
	if err != nil {
		return -1, "", err
	}
	err = unix.Unlinkat(parent, base, 0)
	if err == unix.EISDIR || err == unix.EPERM {
		return -1, "", refusedMember(name, "would replace a folder of the archive")
	}
	if err != nil && err != unix.ENOENT {
		return -1, "", err
	}
	return parent, base, nil
}

// locate returns the open parent folder of the member. It stays open, since archives list folder by folder.
func (x *extraction) locate(name string) (int, string, error) {
	folder, base := path.Dir(name), path.Base(name)
	if folder == "." {
		return x.root, base, nil
	}
	if x.parent >= 0 && x.at == folder {
		return x.parent, base, nil
	}
	current, err := unix.Dup(x.root)
	if err != nil {
		return -1, "", err
	}
	for _, part := range strings.Split(folder, "/") {
		next, err := fsat.OpenFolder(current, part)
		if err == unix.ENOENT {
			if err = unix.Mkdirat(current, part, 0o755); err == nil {
				next, err = fsat.OpenFolder(current, part)
			}
		}
		_ = unix.Close(current)
		if err == unix.ENOTDIR || err == unix.ELOOP {
			return -1, "", refusedMember(name, "passes through "+shownName(part)+", which is a link or a file")
		}
		if err != nil {
			return -1, "", err
		}
		current = next
	}
	x.forgetParent()
	x.parent, x.at = current, folder
	return current, base, nil
}

func (x *extraction) forgetParent() {
	if x.parent >= 0 {
		_ = unix.Close(x.parent)
	}
	x.parent, x.at = -1, ""
}

// finish sets the attributes of folders, deepest first. Set earlier, they would be changed by later members or prevent
// writing them.
func (x *extraction) finish() error {
	for index := len(x.folders) - 1; index >= 0; index-- {
		each := x.folders[index]
		parent, base, err := x.locate(each.name)
		if err != nil {
			return err
		}
		fd, err := fsat.OpenFolder(parent, base)
		if err != nil {
			return err
		}
		err = unix.Fchmod(fd, each.mode|0o700)
		_ = unix.Close(fd)
		if err != nil {
			return err
		}
		fsat.SetTime(parent, base, each.at)
	}
	return nil
}
