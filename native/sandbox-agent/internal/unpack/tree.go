package unpack

import (
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"svc.dev/sandbox-agent/internal/fsat"
)

// tree looks up entries of the layer step by step, without following links. The folder of the last entry stays open,
// since archives list folder by folder.
type tree struct {
	root       int
	parent     int
	parentPath string
}

// locate returns the open parent folder of the entry and the entry's name in it. With create, it creates missing
// folders. It rejects links on the way. The descriptor is valid until the next call.
func (t *tree) locate(name string, create bool) (int, string, error) {
	name = path.Clean("./" + name)
	folder, base := path.Dir(name), path.Base(name)
	if folder == "." {
		return t.root, base, nil
	}
	if t.parent >= 0 && t.parentPath == folder {
		return t.parent, base, nil
	}
	at, err := unix.Dup(t.root)
	if err != nil {
		return -1, "", err
	}
	for _, part := range strings.Split(folder, "/") {
		next, err := t.step(at, part, create, name)
		_ = unix.Close(at)
		if err != nil {
			return -1, "", err
		}
		at = next
	}
	t.forgetParent()
	t.parent, t.parentPath = at, folder
	return at, base, nil
}

func (t *tree) step(at int, part string, create bool, whole string) (int, error) {
	fd, err := fsat.OpenFolder(at, part)
	if err == unix.ENOENT && create {
		if err = unix.Mkdirat(at, part, implicitFolderMode); err == nil {
			fd, err = fsat.OpenFolder(at, part)
		}
	}
	if err == unix.ENOTDIR || err == unix.ELOOP {
		if create && isWhiteout(at, part) {
			return t.reopen(at, part)
		}
		return -1, hostile(whole, "passes through "+part+", which is a link or a file")
	}
	return fd, err
}

// reopen creates a folder whose contents this layer has hidden.
func (t *tree) reopen(at int, part string) (int, error) {
	if err := unix.Unlinkat(at, part, 0); err != nil {
		return -1, err
	}
	if err := unix.Mkdirat(at, part, implicitFolderMode); err != nil {
		return -1, err
	}
	fd, err := fsat.OpenFolder(at, part)
	if err != nil {
		return -1, err
	}
	if err := unix.Fsetxattr(fd, opaqueXattr, []byte("y"), 0); err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func (t *tree) forgetParent() {
	if t.parent >= 0 {
		_ = unix.Close(t.parent)
	}
	t.parent, t.parentPath = -1, ""
}

// replace removes an earlier entry; the parent must come from the last call of locate.
func (t *tree) replace(parent int, name string) error {
	if parent != t.parent { // the removed entry may be the open folder
		t.forgetParent()
	}
	return fsat.Remove(parent, name)
}

func kindAt(at int, name string) (uint32, error) {
	stat, err := fsat.Lstat(at, name)
	if err == unix.ENOENT {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return stat.Mode & unix.S_IFMT, nil
}

func isWhiteout(at int, name string) bool {
	stat, err := fsat.Lstat(at, name)
	return err == nil && stat.Mode&unix.S_IFMT == unix.S_IFCHR && stat.Rdev == 0
}
