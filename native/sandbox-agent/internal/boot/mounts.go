package boot

import (
	"errors"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// hidden is for mounts below which nothing can be written, executed, or used to gain rights.
const hidden = unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV | unix.MOUNT_ATTR_NOEXEC

var devices = []string{"null", "zero", "full", "random", "urandom", "tty"}

var deviceLinks = map[string]string{
	"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
	"core": "/proc/kcore", "ptmx": "pts/ptmx",
}

// mountAll makes the given tree the root of this mount namespace and removes the host's mounts. Mount points are opened
// beneath the root without following links, so an image cannot redirect a mount.
func mountAll(p *Plan, tree int, volumes []int) error {
	defer unix.Close(tree)
	defer closeAll(volumes)
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return failed("make mounts private", err)
	}
	staging, err := unix.Open(p.Staging, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return failed("open the staging folder", err)
	}
	err = attach(tree, staging)
	_ = unix.Close(staging)
	if err != nil {
		return failed("attach the root", err)
	}
	root, err := unix.Open(p.Staging, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return failed("open the root", err)
	}
	defer unix.Close(root)
	for _, mount := range p.Mounts {
		if err := mountFresh(root, mount); err != nil {
			return failed("mount "+mount.Destination, err)
		}
	}
	for index, name := range p.Volumes {
		if err := mountVolume(root, volumes[index], name); err != nil {
			return failed("mount "+name, err)
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
	if err := ownBootID(root); err != nil {
		return failed("create a boot ID", err)
	}
	return pivot(root)
}

func closeAll(descriptors []int) {
	for _, each := range descriptors {
		_ = unix.Close(each)
	}
}

func mountVolume(root, volume int, name string) error {
	target, err := openFolder(root, name)
	if err != nil {
		return err
	}
	defer unix.Close(target)
	return attach(volume, target)
}

// pivot stacks the old root on top of the new one and unmounts it, as described in pivot_root(2) under "pivot_root(".",
// ".")".
func pivot(root int) error {
	if err := unix.Fchdir(root); err != nil {
		return failed("enter the root", err)
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return failed("change the root", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return failed("unmount the host's root", err)
	}
	return os.Chdir("/")
}

func mountFresh(root int, m Mount) error {
	attributes, options := 0, []string{}
	for _, option := range m.Options {
		switch option {
		case "nosuid":
			attributes |= unix.MOUNT_ATTR_NOSUID
		case "nodev":
			attributes |= unix.MOUNT_ATTR_NODEV
		case "noexec":
			attributes |= unix.MOUNT_ATTR_NOEXEC
		case "ro":
			attributes |= unix.MOUNT_ATTR_RDONLY
		case "strictatime":
			attributes |= unix.MOUNT_ATTR_STRICTATIME
		default:
			options = append(options, option)
		}
	}
	mount, err := newMount(m.Type, options, attributes)
	if err != nil {
		return err
	}
	defer unix.Close(mount)
	target, err := openFolder(root, m.Destination)
	if err != nil {
		return err
	}
	defer unix.Close(target)
	if err := attach(mount, target); err != nil {
		return err
	}
	if m.Destination == "/dev" {
		return fillDevices(mount)
	}
	return nil
}

func newMount(kind string, options []string, attributes int) (int, error) {
	context, err := unix.Fsopen(kind, unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, err
	}
	defer unix.Close(context)
	for _, option := range options {
		key, value, hasValue := strings.Cut(option, "=")
		if hasValue {
			err = unix.FsconfigSetString(context, key, value)
		} else {
			err = unix.FsconfigSetFlag(context, key)
		}
		if err != nil {
			return -1, errors.New("option " + option + ": " + err.Error())
		}
	}
	if err := unix.FsconfigCreate(context); err != nil {
		return -1, err
	}
	return unix.Fsmount(context, unix.FSMOUNT_CLOEXEC, attributes)
}

// fillDevices binds harmless devices of the host: a user namespace cannot create any.
func fillDevices(folder int) error {
	for _, name := range devices {
		file, err := unix.Openat(folder, name, unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0o666)
		if err != nil {
			return err
		}
		err = bind("/dev/"+name, file, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC)
		_ = unix.Close(file)
		if err != nil {
			return err
		}
	}
	here, err := openBeneath(folder, ".", unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer unix.Close(here)
	for name, target := range deviceLinks {
		if err := unix.Symlinkat(target, here, name); err != nil {
			return err
		}
	}
	return nil
}

// mask covers a file with /dev/null and a folder with an empty one. A missing path needs no mask.
func mask(root int, name string) error {
	target, err := openBeneath(root, name, unix.O_PATH)
	if err == unix.ENOENT || err == unix.ENOTDIR {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(target)
	var stat unix.Stat_t
	if err := unix.Fstat(target, &stat); err != nil {
		return err
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		return bind("/dev/null", target, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC)
	}
	cover, err := newMount("tmpfs", []string{"size=4k", "mode=755"}, hidden)
	if err != nil {
		return err
	}
	defer unix.Close(cover)
	return attach(cover, target)
}

func makeReadOnly(root int, name string) error {
	target, err := openBeneath(root, name, unix.O_PATH)
	if err == unix.ENOENT || err == unix.ENOTDIR {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(target)
	tree, err := clone(target, "")
	if err != nil {
		return err
	}
	defer unix.Close(tree)
	if err := setAttributes(tree, hidden); err != nil {
		return err
	}
	return attach(tree, target)
}

// bind mounts a path of the host on an open mount point.
func bind(source string, target int, attributes uint64) error {
	tree, err := clone(unix.AT_FDCWD, source)
	if err != nil {
		return err
	}
	defer unix.Close(tree)
	if err := setAttributes(tree, attributes); err != nil {
		return err
	}
	return attach(tree, target)
}

func clone(folder int, name string) (int, error) {
	flags := uint(unix.OPEN_TREE_CLONE | unix.OPEN_TREE_CLOEXEC)
	if name == "" {
		flags |= unix.AT_EMPTY_PATH
	}
	return unix.OpenTree(folder, name, flags)
}

func setAttributes(mount int, attributes uint64) error {
	return unix.MountSetattr(mount, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: attributes})
}

func attach(mount, target int) error {
	return unix.MoveMount(mount, "", target, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
}

// openFolder opens a folder of the root and creates missing parts.
func openFolder(root int, name string) (int, error) {
	made := ""
	for _, part := range strings.Split(strings.Trim(name, "/"), "/") {
		parent, err := openBeneath(root, "./"+made, unix.O_PATH|unix.O_DIRECTORY)
		if err != nil {
			return -1, err
		}
		err = unix.Mkdirat(parent, part, 0o755)
		_ = unix.Close(parent)
		if err != nil && err != unix.EEXIST {
			return -1, err
		}
		made = path.Join(made, part)
	}
	return openBeneath(root, made, unix.O_PATH|unix.O_DIRECTORY)
}

// openBeneath follows no links and never leaves the folder.
func openBeneath(folder int, name string, flags uint64) (int, error) {
	how := unix.OpenHow{
		Flags:   flags | unix.O_CLOEXEC | unix.O_NOFOLLOW,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	}
	for {
		fd, err := unix.Openat2(folder, strings.TrimLeft(name, "/"), &how)
		if err == unix.EAGAIN || err == unix.EINTR {
			continue
		}
		return fd, err
	}
}
