package host

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"svc.dev/sandbox-agent/internal/kernel"
)

const (
	unlinkedFlags = unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW | unix.O_CLOEXEC
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
func settle(part, to string) (*unix.Stat_t, error) {
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
	var stat unix.Stat_t
	if err := errors.Join(folder.Sync(), unix.Fstat(int(file.Fd()), &stat)); err != nil {
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
	defer unix.Close(mount)
	root, err := unix.Open(descriptorPath(mount), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return rootfsStep("open the disk's file system", err)
	}
	defer unix.Close(root)
	if err := unix.Syncfs(root); err != nil {
		return rootfsStep("write what is held back", err)
	}
	return rootfsStep("empty the journal", unix.IoctlSetPointerInt(root, kernel.Ext4Checkpoint, 0))
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

// withDisk mounts an unmounted disk for the duration of the work.
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
	defer unix.Close(mount)
	return work(descriptorPath(mount))
}

// replaceFiles writes files below a folder that a sandbox has written to: no link is followed, and what stands in the
// place of a file is removed, not opened. Where a sandbox made something else of the folder, its will is kept.
func replaceFiles(root string, files map[string]string) error {
	top, err := unix.Open(root, unix.O_DIRECTORY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return rootfsStep("open the files", err)
	}
	defer unix.Close(top)
	for name, content := range files {
		folder, err := openBeneath(top, filepath.Dir(name))
		if err != nil {
			continue
		}
		err = replaceFile(folder, filepath.Base(name), content)
		_ = unix.Close(folder)
		if err != nil {
			return rootfsStep("write "+name, err)
		}
	}
	return nil
}

func openBeneath(top int, folder string) (int, error) {
	flags := uint64(unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC)
	return unix.Openat2(top, folder, &unix.OpenHow{Flags: flags, Resolve: inRootOnly})
}

func replaceFile(folder int, name, content string) error {
	if err := unix.Unlinkat(folder, name, 0); err != nil && err != unix.ENOENT {
		if err == unix.EISDIR {
			return nil
		}
		return err
	}
	fd, err := unix.Openat(folder, name, unlinkedFlags, 0o644)
	if err != nil {
		return err
	}
	file := os.NewFile(uintptr(fd), name)
	defer file.Close()
	_, err = file.WriteString(content)
	return err
}
