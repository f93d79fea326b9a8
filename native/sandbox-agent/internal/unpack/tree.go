package unpack

import (
	"path"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

const (
	atSymlinkNofollow = 0x100
	atRemovedir       = 0x200
	utimeOmit         = (1 << 30) - 2
)

// tree reaches entries of the layer step by step, without ever following a link. The folder of the last entry is kept
// open: archives come folder by folder.
type tree struct {
	root       int
	parent     int
	parentPath string
}

// locate answers the open folder that holds the entry, and the entry's name in it. It makes the folders on the way when
// it may; a link among them is refused. The descriptor is good until the next call.
func (t *tree) locate(name string, create bool) (int, string, error) {
	name = path.Clean("./" + name)
	folder, base := path.Dir(name), path.Base(name)
	if folder == "." {
		return t.root, base, nil
	}
	if t.parent >= 0 && t.parentPath == folder {
		return t.parent, base, nil
	}
	at, err := syscall.Dup(t.root)
	if err != nil {
		return -1, "", err
	}
	for _, part := range strings.Split(folder, "/") {
		next, err := t.step(at, part, create, name)
		_ = syscall.Close(at)
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
	fd, err := openFolder(at, part)
	if err == syscall.ENOENT && create {
		if err = syscall.Mkdirat(at, part, implicitFolderMode); err == nil {
			fd, err = openFolder(at, part)
		}
	}
	if err == syscall.ENOTDIR || err == syscall.ELOOP {
		if create && isWhiteout(at, part) {
			return t.reopen(at, part)
		}
		return -1, hostile(whole, "passes through "+part+", which is a link or a file")
	}
	return fd, err
}

// reopen makes a folder where this layer has first taken away what lay below.
func (t *tree) reopen(at int, part string) (int, error) {
	if err := unlinkat(at, part, 0); err != nil {
		return -1, err
	}
	if err := syscall.Mkdirat(at, part, implicitFolderMode); err != nil {
		return -1, err
	}
	fd, err := openFolder(at, part)
	if err != nil {
		return -1, err
	}
	if err := fsetxattr(fd, opaqueXattr, []byte("y")); err != nil {
		_ = syscall.Close(fd)
		return -1, err
	}
	return fd, nil
}

func (t *tree) forgetParent() {
	if t.parent >= 0 {
		_ = syscall.Close(t.parent)
	}
	t.parent, t.parentPath = -1, ""
}

// replace takes away what an earlier entry made; the parent is what locate answered last.
func (t *tree) replace(parent int, name string) error {
	if parent != t.parent { // the folder that is kept open may be what goes
		t.forgetParent()
	}
	return removeAt(parent, name)
}

func removeAt(parent int, name string) error {
	err := unlinkat(parent, name, 0)
	if err != syscall.EISDIR && err != syscall.EPERM {
		return err
	}
	fd, err := openFolder(parent, name)
	if err != nil {
		return err
	}
	names, err := namesIn(fd)
	for _, each := range names {
		if err == nil {
			err = removeAt(fd, each)
		}
	}
	_ = syscall.Close(fd)
	if err != nil {
		return err
	}
	return unlinkat(parent, name, atRemovedir)
}

func namesIn(fd int) ([]string, error) {
	names := []string{}
	buffer := make([]byte, 64<<10)
	for {
		count, err := syscall.ReadDirent(fd, buffer)
		if err != nil || count <= 0 {
			return names, err
		}
		_, _, names = syscall.ParseDirent(buffer[:count], -1, names)
	}
}

func openFolder(at int, name string) (int, error) {
	return syscall.Openat(at, name, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
}

// kindAt is the file type bits of an entry, 0 when there is none.
func kindAt(at int, name string) (uint32, error) {
	stat, err := lstatAt(at, name)
	if err == syscall.ENOENT {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return stat.Mode & syscall.S_IFMT, nil
}

func isWhiteout(at int, name string) bool {
	stat, err := lstatAt(at, name)
	return err == nil && stat.Mode&syscall.S_IFMT == syscall.S_IFCHR && stat.Rdev == 0
}

func lstatAt(at int, name string) (*syscall.Stat_t, error) {
	pointer, err := syscall.BytePtrFromString(name)
	if err != nil {
		return nil, err
	}
	stat := &syscall.Stat_t{}
	_, _, errno := syscall.Syscall6(sysFstatat, uintptr(at), uintptr(unsafe.Pointer(pointer)),
		uintptr(unsafe.Pointer(stat)), atSymlinkNofollow, 0, 0)
	if errno != 0 {
		return nil, errno
	}
	return stat, nil
}

func unlinkat(at int, name string, flags int) error {
	pointer, err := syscall.BytePtrFromString(name)
	if err != nil {
		return err
	}
	return result(syscall.Syscall(syscall.SYS_UNLINKAT, uintptr(at), uintptr(unsafe.Pointer(pointer)), uintptr(flags)))
}

func symlinkat(target string, at int, name string) error {
	from, err := syscall.BytePtrFromString(target)
	if err != nil {
		return err
	}
	to, err := syscall.BytePtrFromString(name)
	if err != nil {
		return err
	}
	return result(syscall.Syscall(syscall.SYS_SYMLINKAT, uintptr(unsafe.Pointer(from)), uintptr(at), uintptr(unsafe.Pointer(to))))
}

func linkat(from int, fromName string, to int, toName string) error {
	source, err := syscall.BytePtrFromString(fromName)
	if err != nil {
		return err
	}
	target, err := syscall.BytePtrFromString(toName)
	if err != nil {
		return err
	}
	return result(syscall.Syscall6(syscall.SYS_LINKAT, uintptr(from), uintptr(unsafe.Pointer(source)), uintptr(to),
		uintptr(unsafe.Pointer(target)), 0, 0))
}

func mknodat(at int, name string, mode uint32, device int) error {
	pointer, err := syscall.BytePtrFromString(name)
	if err != nil {
		return err
	}
	return result(syscall.Syscall6(syscall.SYS_MKNODAT, uintptr(at), uintptr(unsafe.Pointer(pointer)), uintptr(mode),
		uintptr(device), 0, 0))
}

func fsetxattr(fd int, name string, value []byte) error {
	pointer, err := syscall.BytePtrFromString(name)
	if err != nil {
		return err
	}
	var content unsafe.Pointer
	if len(value) > 0 {
		content = unsafe.Pointer(&value[0])
	}
	return result(syscall.Syscall6(syscall.SYS_FSETXATTR, uintptr(fd), uintptr(unsafe.Pointer(pointer)), uintptr(content),
		uintptr(len(value)), 0, 0))
}

// setTime is best effort: a date that the file system cannot hold is no reason to refuse the entry.
func setTime(at int, name string, modified time.Time) {
	pointer, err := syscall.BytePtrFromString(name)
	if err != nil {
		return
	}
	times := [2]syscall.Timespec{{Nsec: utimeOmit}, {Sec: modified.Unix(), Nsec: int64(modified.Nanosecond())}}
	_, _, _ = syscall.Syscall6(syscall.SYS_UTIMENSAT, uintptr(at), uintptr(unsafe.Pointer(pointer)),
		uintptr(unsafe.Pointer(&times)), atSymlinkNofollow, 0, 0)
}

func result(_, _ uintptr, errno syscall.Errno) error {
	if errno != 0 {
		return errno
	}
	return nil
}
