package unpack

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/sys/unix"

	"svc.dev/sandbox-agent/internal/fsat"
)

const (
	// IDs from 0 to 65,535 exist in a sandbox.
	idsOfSandbox = 65_536
	nobody       = 65_534

	capabilityXattr      = "security.capability"
	capabilityBytes      = 20 // VFS_CAP_REVISION_2: has no root ID, so it has no effect outside the sandbox
	pathOnlyMode         = 0o600
	permissionBits       = 0o7777
	xattrRecord          = "SCHILY.xattr."
	maxXattrs            = 64
	implicitFolderMode   = 0o755
	overlayXattrFragment = ".overlay."
)

func (l *layer) rootFolder(header *tar.Header) error {
	if header.Typeflag != tar.TypeDir {
		return hostile(header.Name, "would replace the root")
	}
	l.folders = append(l.folders, folderTime{".", header.ModTime})
	return l.own(l.root, header)
}

func (l *layer) folder(name string, header *tar.Header) error {
	parent, base, err := l.locate(name, true)
	if err != nil {
		return err
	}
	hidden := false
	kind, err := kindAt(parent, base)
	if err != nil {
		return err
	}
	if kind != 0 && kind != unix.S_IFDIR {
		hidden = isWhiteout(parent, base)
		if err := l.replace(parent, base); err != nil {
			return err
		}
		kind = 0
	}
	if kind == 0 {
		if err := unix.Mkdirat(parent, base, 0o700); err != nil {
			return err
		}
	}
	fd, err := fsat.OpenFolder(parent, base)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if hidden { // this layer hides everything below
		if err := unix.Fsetxattr(fd, opaqueXattr, []byte("y"), 0); err != nil {
			return err
		}
	}
	l.folders = append(l.folders, folderTime{name, header.ModTime})
	return l.own(fd, header)
}

func (l *layer) file(name string, header *tar.Header, content io.Reader) error {
	// Checked before a byte is written: a header may claim any size, and a sparse file may expand to any size.
	if l.report.Bytes += header.Size; header.Size < 0 || l.report.Bytes > l.limits.bytes {
		return &Failure{"TOO_LARGE", fmt.Sprintf("its files have more than %d bytes", l.limits.bytes)}
	}
	parent, base, err := l.makeRoom(name)
	if err != nil {
		return err
	}
	flags := unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Openat(parent, base, flags, pathOnlyMode)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := l.copyTo(fd, content); err != nil {
		return err
	}
	if err := l.own(fd, header); err != nil {
		return err
	}
	fsat.SetTime(parent, base, header.ModTime)
	return nil
}

func (l *layer) copyTo(fd int, content io.Reader) error {
	for {
		count, err := content.Read(l.buffer)
		for rest := l.buffer[:count]; len(rest) > 0; {
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
			return malformed(err)
		}
	}
}

func (l *layer) symlink(name string, header *tar.Header) error {
	if header.Linkname == "" || len(header.Linkname) >= maxPathBytes || strings.ContainsRune(header.Linkname, 0) {
		return hostile(name, "is a link with an invalid target")
	}
	parent, base, err := l.makeRoom(name)
	if err != nil {
		return err
	}
	// The target is not checked: it is resolved inside the sandbox only.
	if err := unix.Symlinkat(header.Linkname, parent, base); err != nil {
		return err
	}
	uid, gid := l.owner(header)
	if err := unix.Fchownat(parent, base, uid, gid, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	fsat.SetTime(parent, base, header.ModTime)
	return nil
}

func (l *layer) link(name string, header *tar.Header) error {
	target, err := cleanName(header.Linkname)
	if err != nil {
		return err
	}
	from, fromBase, err := l.locate(target, false)
	if err != nil {
		return asMissingTarget(err, name, header.Linkname)
	}
	if from, err = unix.Dup(from); err != nil { // the next lookup closes the previous folder
		return err
	}
	defer unix.Close(from)
	kind, err := kindAt(from, fromBase)
	if err != nil {
		return err
	}
	if kind == 0 || kind == unix.S_IFDIR || kind == unix.S_IFCHR {
		return hostile(name, fmt.Sprintf("is a hard link to %q, which is not a file of this layer", shown(header.Linkname)))
	}
	if target == name {
		return nil
	}
	parent, base, err := l.makeRoom(name)
	if err != nil {
		return err
	}
	return unix.Linkat(from, fromBase, parent, base, 0)
}

func (l *layer) fifo(name string, header *tar.Header) error {
	parent, base, err := l.makeRoom(name)
	if err != nil {
		return err
	}
	if err := unix.Mknodat(parent, base, unix.S_IFIFO|uint32(header.Mode&0o777), 0); err != nil {
		return err
	}
	uid, gid := l.owner(header)
	return unix.Fchownat(parent, base, uid, gid, unix.AT_SYMLINK_NOFOLLOW)
}

func (l *layer) whiteout(folder, name string) error {
	if name == "" || name == "." || name == ".." {
		return hostile(whiteoutPrefix+name, "is an invalid whiteout")
	}
	parent, base, err := l.locate(folder+"/"+name, true)
	if err != nil {
		return err
	}
	switch kind, err := kindAt(parent, base); {
	case err != nil:
		return err
	case kind == 0:
		return unix.Mknodat(parent, base, unix.S_IFCHR, 0)
	case kind == unix.S_IFDIR: // added by this layer; only what is below it is hidden
		return l.makeOpaque(folder + "/" + name)
	}
	return nil // this layer has its own entry in this place
}

func (l *layer) makeOpaque(folder string) error {
	if folder == "." {
		return unix.Fsetxattr(l.root, opaqueXattr, []byte("y"), 0)
	}
	parent, base, err := l.locate(folder, true)
	if err != nil {
		return err
	}
	if kind, err := kindAt(parent, base); err != nil {
		return err
	} else if kind == 0 {
		if err := unix.Mkdirat(parent, base, implicitFolderMode); err != nil {
			return err
		}
	} else if kind != unix.S_IFDIR {
		return hostile(folder, "is marked opaque but is not a directory")
	}
	fd, err := fsat.OpenFolder(parent, base)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Fsetxattr(fd, opaqueXattr, []byte("y"), 0)
}

// makeRoom returns where the entry goes, and removes an earlier entry with its name.
func (l *layer) makeRoom(name string) (int, string, error) {
	parent, base, err := l.locate(name, true)
	if err != nil {
		return -1, "", err
	}
	kind, err := kindAt(parent, base)
	if err == nil && kind != 0 {
		err = l.replace(parent, base)
	}
	return parent, base, err
}

// own sets owner, mode and safe attributes of the open file, in this order: changing the owner clears set-user-ID bits
// and capabilities.
func (l *layer) own(fd int, header *tar.Header) error {
	uid, gid := l.owner(header)
	if err := unix.Fchown(fd, uid, gid); err != nil {
		return err
	}
	if err := unix.Fchmod(fd, uint32(header.Mode&permissionBits)); err != nil {
		return err
	}
	kept := 0
	for record, value := range header.PAXRecords {
		name, found := strings.CutPrefix(record, xattrRecord)
		if !found || !isSafeXattr(name, value) {
			continue
		}
		if kept++; kept > maxXattrs {
			return hostile(header.Name, "has too many attributes")
		}
		if err := unix.Fsetxattr(fd, name, []byte(value), 0); err != nil && !errors.Is(err, unix.EOPNOTSUPP) {
			return err
		}
	}
	return nil
}

// isSafeXattr rejects attributes that overlayfs, security modules or access control lists would act on.
func isSafeXattr(name, value string) bool {
	if name == capabilityXattr {
		return len(value) == capabilityBytes
	}
	return strings.HasPrefix(name, "user.") && !strings.Contains(name, overlayXattrFragment) && len(name) <= maxNameBytes
}

func (l *layer) owner(header *tar.Header) (int, int) {
	uid, gid := header.Uid, header.Gid
	if uid < 0 || uid >= idsOfSandbox || gid < 0 || gid >= idsOfSandbox {
		l.report.Remapped++
		if uid < 0 || uid >= idsOfSandbox {
			uid = nobody
		}
		if gid < 0 || gid >= idsOfSandbox {
			gid = nobody
		}
	}
	return uid, gid
}

func asMissingTarget(err error, name, target string) error {
	var known *Failure
	if errors.As(err, &known) || !errors.Is(err, unix.ENOENT) {
		return err
	}
	return hostile(name, fmt.Sprintf("is a hard link to %q, which is not a file of this layer", shown(target)))
}
