package host

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unsafe"
)

const (
	ext4Checkpoint = 0x4004662B // EXT4_IOC_CHECKPOINT, Linux 5.14
	ficlone        = 0x40049409
	unlinkedFlags  = syscall.O_WRONLY | syscall.O_CREAT | syscall.O_EXCL | syscall.O_NOFOLLOW | syscall.O_CLOEXEC
)

// snapshot copies the disk of a sandbox, which runs or not, to a new file. Nothing writes while it is copied: the
// processes stand still, and what the file system holds back is on the disk before.
func (h *host) snapshot(r *request) (any, error) {
	part, to := r.To+".part", r.To
	defer os.Remove(part) // gone by its new name when all went well
	if err := h.copyStill(r.Sandbox, r.From, part, r.Paused); err != nil {
		return nil, err
	}
	// Mounting it once empties its journal, and shows that it can be mounted.
	if err := withDisk(part, func(string) error { return nil }); err != nil {
		return nil, err
	}
	stat, err := settle(part, to)
	if err != nil {
		return nil, err
	}
	return map[string]any{"size_bytes": stat.Blocks * 512}, nil
}

// copyStill: that a group is frozen says nothing of why, since a launcher that died in here leaves it so.
func (h *host) copyStill(sandbox, from, to string, paused bool) error {
	s, err := h.readState(sandbox)
	if err != nil || !alive(s) {
		return rootfsStep("copy the disk", copyDisk(from, to))
	}
	if err := flush(from); err != nil { // most of it while the processes still move
		return err
	}
	if !paused {
		defer h.cgroups.thaw(sandbox)
		if err := h.cgroups.freeze(sandbox); err != nil {
			return err
		}
	}
	if err := flush(from); err != nil {
		return err
	}
	return rootfsStep("copy the disk", copyDisk(from, to))
}

// copyDiskOf makes the disk of a sandbox that does not run from a snapshot, with files of its own.
func (h *host) copyDiskOf(from, to string, files map[string]string) (any, error) {
	part := to + ".part"
	defer os.Remove(part)
	if err := copyDisk(from, part); err != nil {
		return nil, rootfsStep("copy the disk", err)
	}
	err := withDisk(part, func(root string) error { return replaceFiles(root+"/upper", files) })
	if err != nil {
		return nil, err
	}
	_, err = settle(part, to)
	return map[string]any{}, err
}

// settle puts a file in its place once it is on the disk.
func settle(part, to string) (*syscall.Stat_t, error) {
	file, err := os.Open(part)
	if err != nil {
		return nil, rootfsStep("open the copy", err)
	}
	defer file.Close()
	if err := file.Sync(); err != nil {
		return nil, rootfsStep("write the copy", err)
	}
	if err := os.Rename(part, to); err != nil {
		return nil, rootfsStep("name the copy", err)
	}
	folder, err := os.Open(filepath.Dir(to))
	if err != nil {
		return nil, rootfsStep("open the folder of the copy", err)
	}
	defer folder.Close()
	var stat syscall.Stat_t
	if err := errors.Join(folder.Sync(), syscall.Fstat(int(file.Fd()), &stat)); err != nil {
		return nil, rootfsStep("write the copy", err)
	}
	return &stat, nil
}

// flush writes what the mounted file system of a disk holds back into the disk's file, and empties its journal. The file
// system is reached by one more mount of the same device: those of the sandbox are inside of it.
func flush(disk string) error {
	device, err := loopOf(disk)
	if err != nil {
		return rootfsStep("find the disk's device", err)
	}
	mount, err := mountDetached(device)
	if err != nil {
		return err
	}
	defer syscall.Close(mount)
	root, err := syscall.Open(descriptorPath(mount), syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return rootfsStep("open the disk's file system", err)
	}
	defer syscall.Close(root)
	if _, _, errno := syscall.Syscall(sysSyncfsNumber, uintptr(root), 0, 0); errno != 0 {
		return rootfsStep("write what is held back", errno)
	}
	flags := uint32(0)
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(root), ext4Checkpoint, uintptr(unsafe.Pointer(&flags)))
	if errno != 0 {
		return rootfsStep("empty the journal", errno)
	}
	return nil
}

// loopOf finds the device that a disk is attached to.
func loopOf(disk string) (string, error) {
	wanted, err := filepath.EvalSymlinks(disk)
	if err != nil {
		return "", err
	}
	files, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
	if err != nil {
		return "", err
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err == nil && strings.TrimSuffix(string(content), "\n") == wanted {
			return "/dev/" + strings.Split(file, "/")[3], nil
		}
	}
	return "", os.ErrNotExist
}

// withDisk mounts a disk that nobody else has mounted, for the work only.
func withDisk(file string, work func(root string) error) error {
	device, handle, err := attachDisk(file)
	if err != nil {
		return err
	}
	defer handle.Close()
	mount, err := mountDetached(device)
	if err != nil {
		return err
	}
	defer syscall.Close(mount)
	return work(descriptorPath(mount))
}

// replaceFiles writes files below a folder that a sandbox has written to: no link is followed, and what stands in the
// place of a file is removed, not opened. Where a sandbox made something else of the folder, its will is kept.
func replaceFiles(root string, files map[string]string) error {
	top, err := syscall.Open(root, syscall.O_DIRECTORY|syscall.O_CLOEXEC|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return rootfsStep("open the files", err)
	}
	defer syscall.Close(top)
	for name, content := range files {
		folder, err := openBeneath(top, filepath.Dir(name))
		if err != nil {
			continue
		}
		err = replaceFile(folder, filepath.Base(name), content)
		_ = syscall.Close(folder)
		if err != nil {
			return rootfsStep("write "+name, err)
		}
	}
	return nil
}

func openBeneath(top int, folder string) (int, error) {
	path, err := syscall.BytePtrFromString(folder)
	if err != nil {
		return 0, err
	}
	how := struct{ flags, mode, resolve uint64 }{
		flags:   syscall.O_RDONLY | syscall.O_DIRECTORY | syscall.O_CLOEXEC,
		resolve: resolveInRoot | resolveNoSymlinks | resolveNoMagiclinks | resolveNoXdev,
	}
	fd, _, errno := syscall.Syscall6(sysOpenat2, uintptr(top), uintptr(unsafe.Pointer(path)),
		uintptr(unsafe.Pointer(&how)), unsafe.Sizeof(how), 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(fd), nil
}

func replaceFile(folder int, name, content string) error {
	if err := syscall.Unlinkat(folder, name); err != nil && err != syscall.ENOENT {
		if err == syscall.EISDIR {
			return nil
		}
		return err
	}
	fd, err := syscall.Openat(folder, name, unlinkedFlags, 0o644)
	if err != nil {
		return err
	}
	file := os.NewFile(uintptr(fd), name)
	defer file.Close()
	_, err = file.WriteString(content)
	return err
}
