package agent

import (
	"archive/tar"
	"io"
	"os"
	"path"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"svc.dev/sandbox-agent/internal/fsat"
)

// adopt gives an open file the owner, mode and attributes of the header, as far as they differ. A change of the owner clears
// set-user-ID bits and capabilities, so it comes first.
func adopt(fd int, header *tar.Header) error {
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return err
	}
	mode := uint32(header.Mode & 0o7777)
	if int(stat.Uid) != header.Uid || int(stat.Gid) != header.Gid {
		if err := unix.Fchown(fd, header.Uid, header.Gid); err != nil {
			return err
		}
		stat.Mode = 0
	}
	if stat.Mode&0o7777 != mode {
		if err := unix.Fchmod(fd, mode); err != nil {
			return err
		}
	}
	present := keptAttributes(fd)
	for name := range present {
		if _, wanted := header.PAXRecords[attributeRecord+name]; !wanted {
			if err := unix.Fremovexattr(fd, name); err != nil {
				return err
			}
		}
	}
	for record, value := range header.PAXRecords {
		name, found := strings.CutPrefix(record, attributeRecord)
		if !found || !isKeptAttribute(name) {
			continue
		}
		if former, has := present[name]; has && former == value {
			continue
		}
		if err := unix.Fsetxattr(fd, name, []byte(value), 0); err != nil && err != unix.EOPNOTSUPP {
			return err
		}
	}
	return nil
}

// link follows no links on the way to the target, which is restored already.
func (x *restoration) link(parent int, base string, header *tar.Header) error {
	target, err := memberName(header.Linkname)
	if err != nil {
		return err
	}
	folder, err := unix.Openat2(x.root, path.Dir(target), &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return err
	}
	defer unix.Close(folder)
	wanted, err := fsat.Lstat(folder, path.Base(target))
	if err != nil {
		return err
	}
	if present, err := fsat.Lstat(parent, base); err == nil && present.Dev == wanted.Dev && present.Ino == wanted.Ino {
		return nil
	}
	if err := x.makeWay(parent, base); err != nil {
		return err
	}
	err = unix.Linkat(folder, path.Base(target), parent, base, 0)
	if err == unix.EXDEV { // between two folders of a disk, which are separate mounts
		return x.duplicate(folder, path.Base(target), parent, base, wanted)
	}
	return err
}

// duplicate makes a file of its own in place of a link.
func (x *restoration) duplicate(folder int, target string, parent int, base string, stat *unix.Stat_t) error {
	header := &tar.Header{Mode: int64(stat.Mode & 0o7777), Uid: int(stat.Uid), Gid: int(stat.Gid), Size: stat.Size,
		ModTime: time.Unix(int64(stat.Mtim.Sec), int64(stat.Mtim.Nsec))}
	source, err := unix.Openat(folder, target, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	file := os.NewFile(uintptr(source), target)
	defer file.Close()
	header.PAXRecords = attributeRecords(source)
	return x.file(parent, base, header, io.LimitReader(file, stat.Size))
}

func chownAt(parent int, base string, header *tar.Header) error {
	stat, err := fsat.Lstat(parent, base)
	if err != nil {
		return err
	}
	if int(stat.Uid) == header.Uid && int(stat.Gid) == header.Gid {
		return nil
	}
	return unix.Fchownat(parent, base, header.Uid, header.Gid, unix.AT_SYMLINK_NOFOLLOW)
}

func kindOf(parent int, base string) (uint32, error) {
	stat, err := fsat.Lstat(parent, base)
	if err == unix.ENOENT {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return stat.Mode & unix.S_IFMT, nil
}

func readFull(fd int, buffer []byte, offset int64) (int, error) {
	total := 0
	for total < len(buffer) {
		n, err := unix.Pread(fd, buffer[total:], offset+int64(total))
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return total, err
		}
		total += n
	}
	return total, nil
}

func writeAll(fd int, content []byte) error {
	for len(content) > 0 {
		n, err := unix.Write(fd, content)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		content = content[n:]
	}
	return nil
}
