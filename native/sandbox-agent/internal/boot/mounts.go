package boot

import (
	"errors"
	"os"
	"path"
	"strings"
	"syscall"
	"unsafe"
)

// The mount calls of Linux 5.2 to 5.12 have the same numbers on every architecture.
const (
	sysOpenTree     = 428
	sysMoveMount    = 429
	sysFsopen       = 430
	sysFsconfig     = 431
	sysFsmount      = 432
	sysOpenat2      = 437
	sysMountSetattr = 442

	cloexec           = 1 // of fsopen and fsmount
	openTreeClone     = 1
	atFdcwd           = -100
	atEmptyPath       = 0x1000
	moveFromEmpty     = 0x04
	moveToEmpty       = 0x40
	fsconfigSetFlag   = 0
	fsconfigSetString = 1
	fsconfigCreate    = 6
	attrReadOnly      = 0x1
	attrNosuid        = 0x2
	attrNodev         = 0x4
	attrNoexec        = 0x8
	attrStrictAtime   = 0x20
	resolveNoMagic    = 0x02
	resolveNoSymlinks = 0x04
	resolveBeneath    = 0x08
	oPath             = 0x200000
)

var devices = []string{"null", "zero", "full", "random", "urandom", "tty"}

var deviceLinks = map[string]string{
	"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
	"core": "/proc/kcore", "ptmx": "pts/ptmx",
}

var empty = [1]byte{}

// mountAll makes the root that it was given the root of this mount namespace and leaves nothing of the host in it. Places
// are found beneath the root without following any link, so that an image cannot lead a mount elsewhere.
func mountAll(p *Plan, tree int) error {
	defer syscall.Close(tree)
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return failed("keep mounts to itself", err)
	}
	staging, err := syscall.Open(p.Staging, oPath|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return failed("open the place of the root", err)
	}
	err = attach(tree, staging)
	_ = syscall.Close(staging)
	if err != nil {
		return failed("attach the root", err)
	}
	root, err := syscall.Open(p.Staging, oPath|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return failed("open the root", err)
	}
	defer syscall.Close(root)
	for _, mount := range p.Mounts {
		if err := mountFresh(root, mount); err != nil {
			return failed("mount "+mount.Destination, err)
		}
	}
	for _, name := range p.Masked {
		if err := mask(root, name); err != nil {
			return failed("mask "+name, err)
		}
	}
	for _, name := range p.ReadOnly {
		if err := makeReadOnly(root, name); err != nil {
			return failed("make "+name+" read-only", err)
		}
	}
	return pivot(root)
}

// pivot stacks the old root on the new one, in the same place, and takes it away: pivot_root(2), "pivot_root(".", ".")".
func pivot(root int) error {
	if err := syscall.Fchdir(root); err != nil {
		return failed("enter the root", err)
	}
	if err := syscall.PivotRoot(".", "."); err != nil {
		return failed("change the root", err)
	}
	if err := syscall.Unmount(".", syscall.MNT_DETACH); err != nil {
		return failed("leave the host", err)
	}
	return os.Chdir("/")
}

func mountFresh(root int, m Mount) error {
	attributes, options := uintptr(0), []string{}
	for _, option := range m.Options {
		switch option {
		case "nosuid":
			attributes |= attrNosuid
		case "nodev":
			attributes |= attrNodev
		case "noexec":
			attributes |= attrNoexec
		case "ro":
			attributes |= attrReadOnly
		case "strictatime":
			attributes |= attrStrictAtime
		default:
			options = append(options, option)
		}
	}
	mount, err := newMount(m.Type, options, attributes)
	if err != nil {
		return err
	}
	defer syscall.Close(mount)
	target, err := openFolder(root, m.Destination)
	if err != nil {
		return err
	}
	defer syscall.Close(target)
	if err := attach(mount, target); err != nil {
		return err
	}
	if m.Destination == "/dev" {
		return fillDevices(mount)
	}
	return nil
}

func newMount(kind string, options []string, attributes uintptr) (int, error) {
	name, err := syscall.BytePtrFromString(kind)
	if err != nil {
		return -1, err
	}
	context, _, errno := syscall.Syscall(sysFsopen, uintptr(unsafe.Pointer(name)), cloexec, 0)
	if errno != 0 {
		return -1, errno
	}
	defer syscall.Close(int(context))
	for _, option := range options {
		key, value, hasValue := strings.Cut(option, "=")
		if err := configure(context, key, value, hasValue); err != nil {
			return -1, errors.New("option " + option + ": " + err.Error())
		}
	}
	if _, _, errno = syscall.Syscall6(sysFsconfig, context, fsconfigCreate, 0, 0, 0, 0); errno != 0 {
		return -1, errno
	}
	mount, _, errno := syscall.Syscall(sysFsmount, context, cloexec, attributes)
	if errno != 0 {
		return -1, errno
	}
	return int(mount), nil
}

func configure(context uintptr, key, value string, hasValue bool) error {
	keyBytes, err := syscall.BytePtrFromString(key)
	if err != nil {
		return err
	}
	if !hasValue {
		_, _, errno := syscall.Syscall6(sysFsconfig, context, fsconfigSetFlag, uintptr(unsafe.Pointer(keyBytes)), 0, 0, 0)
		return orNil(errno)
	}
	valueBytes, err := syscall.BytePtrFromString(value)
	if err != nil {
		return err
	}
	_, _, errno := syscall.Syscall6(sysFsconfig, context, fsconfigSetString, uintptr(unsafe.Pointer(keyBytes)),
		uintptr(unsafe.Pointer(valueBytes)), 0, 0)
	return orNil(errno)
}

// fillDevices shows the host's own few harmless devices: a user namespace cannot make any.
func fillDevices(folder int) error {
	for _, name := range devices {
		file, err := syscall.Openat(folder, name, syscall.O_CREAT|syscall.O_EXCL|syscall.O_CLOEXEC|syscall.O_NOFOLLOW, 0o666)
		if err != nil {
			return err
		}
		err = bind("/dev/"+name, file, attrNosuid|attrNoexec)
		_ = syscall.Close(file)
		if err != nil {
			return err
		}
	}
	here, err := openBeneath(folder, ".", oPath|syscall.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer syscall.Close(here)
	for name, target := range deviceLinks {
		if err := symlinkAt(target, here, name); err != nil {
			return err
		}
	}
	return nil
}

// mask covers a file with /dev/null and a folder with an empty one; what is not there needs none.
func mask(root int, name string) error {
	target, err := openBeneath(root, name, oPath)
	if err == syscall.ENOENT || err == syscall.ENOTDIR {
		return nil
	}
	if err != nil {
		return err
	}
	defer syscall.Close(target)
	var stat syscall.Stat_t
	if err := syscall.Fstat(target, &stat); err != nil {
		return err
	}
	if stat.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		return bind("/dev/null", target, attrReadOnly|attrNosuid|attrNoexec)
	}
	cover, err := newMount("tmpfs", []string{"size=4k", "mode=755"}, attrReadOnly|attrNosuid|attrNodev|attrNoexec)
	if err != nil {
		return err
	}
	defer syscall.Close(cover)
	return attach(cover, target)
}

func makeReadOnly(root int, name string) error {
	target, err := openBeneath(root, name, oPath)
	if err == syscall.ENOENT || err == syscall.ENOTDIR {
		return nil
	}
	if err != nil {
		return err
	}
	defer syscall.Close(target)
	tree, err := clone(target, "")
	if err != nil {
		return err
	}
	defer syscall.Close(tree)
	if err := setAttributes(tree, attrReadOnly|attrNosuid|attrNodev|attrNoexec); err != nil {
		return err
	}
	return attach(tree, target)
}

// bind shows a path of the host at an open place.
func bind(source string, target int, attributes uint64) error {
	tree, err := clone(atFdcwd, source)
	if err != nil {
		return err
	}
	defer syscall.Close(tree)
	if err := setAttributes(tree, attributes); err != nil {
		return err
	}
	return attach(tree, target)
}

func clone(folder int, name string) (int, error) {
	at, err := syscall.BytePtrFromString(name)
	if err != nil {
		return -1, err
	}
	flags := uintptr(openTreeClone | syscall.O_CLOEXEC)
	if name == "" {
		flags |= atEmptyPath
	}
	tree, _, errno := syscall.Syscall(sysOpenTree, uintptr(folder), uintptr(unsafe.Pointer(at)), flags)
	return int(tree), orNil(errno)
}

func setAttributes(mount int, attributes uint64) error {
	attr := struct{ set, clear, propagation, usernsFd uint64 }{set: attributes}
	_, _, errno := syscall.Syscall6(sysMountSetattr, uintptr(mount), uintptr(unsafe.Pointer(&empty)), atEmptyPath,
		uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	return orNil(errno)
}

func attach(mount, target int) error {
	_, _, errno := syscall.Syscall6(sysMoveMount, uintptr(mount), uintptr(unsafe.Pointer(&empty)), uintptr(target),
		uintptr(unsafe.Pointer(&empty)), moveFromEmpty|moveToEmpty, 0)
	return orNil(errno)
}

// openFolder opens a folder of the root and makes what is missing of it.
func openFolder(root int, name string) (int, error) {
	made := ""
	for _, part := range strings.Split(strings.Trim(name, "/"), "/") {
		parent, err := openBeneath(root, "./"+made, oPath|syscall.O_DIRECTORY)
		if err != nil {
			return -1, err
		}
		err = syscall.Mkdirat(parent, part, 0o755)
		_ = syscall.Close(parent)
		if err != nil && err != syscall.EEXIST {
			return -1, err
		}
		made = path.Join(made, part)
	}
	return openBeneath(root, made, oPath|syscall.O_DIRECTORY)
}

// openBeneath follows no link at all and never leaves the folder.
func openBeneath(folder int, name string, flags uint64) (int, error) {
	at, err := syscall.BytePtrFromString(strings.TrimLeft(name, "/"))
	if err != nil {
		return -1, err
	}
	how := struct{ flags, mode, resolve uint64 }{
		flags: flags | syscall.O_CLOEXEC | syscall.O_NOFOLLOW, resolve: resolveBeneath | resolveNoSymlinks | resolveNoMagic,
	}
	for {
		fd, _, errno := syscall.Syscall6(sysOpenat2, uintptr(folder), uintptr(unsafe.Pointer(at)),
			uintptr(unsafe.Pointer(&how)), unsafe.Sizeof(how), 0, 0)
		if errno == syscall.EAGAIN || errno == syscall.EINTR {
			continue
		}
		return int(fd), orNil(errno)
	}
}

func symlinkAt(target string, folder int, name string) error {
	from, err := syscall.BytePtrFromString(target)
	if err != nil {
		return err
	}
	at, err := syscall.BytePtrFromString(name)
	if err != nil {
		return err
	}
	_, _, errno := syscall.Syscall(syscall.SYS_SYMLINKAT, uintptr(unsafe.Pointer(from)), uintptr(folder), uintptr(unsafe.Pointer(at)))
	return orNil(errno)
}

// orNil keeps a zero Errno from becoming an error that is not nil.
func orNil(errno syscall.Errno) error {
	if errno == 0 {
		return nil
	}
	return errno
}
