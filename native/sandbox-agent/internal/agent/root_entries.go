package agent

import (
	"archive/tar"
	"strings"

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
