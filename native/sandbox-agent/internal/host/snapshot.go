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

// snapshot copies the disk of a sandbox, running or not, to a new file. Nothing writes during the copy: the processes
// are frozen, and the file system is synced first.
func (h *host) snapshot(r *request) (any, error) {
	part, to := r.To+".part", r.To
	defer os.Remove(part) // has no effect after a rename
	if err := h.copyStill(r.Sandbox, r.From, part, r.Paused); err != nil {
		return nil, err
	}
	// Mounting the copy once empties its journal and proves that it is mountable.
	if err := withDisk(part, func(string) error { return nil }); err != nil {
		return nil, err
	}
	stat, err := settle(part, to)
	if err != nil {
		return nil, err
	}
	return map[string]any{"size_bytes": stat.Blocks * 512}, nil
}

// copyStill copies while the sandbox is frozen. A frozen group alone does not mean that the sandbox is paused: a
// launcher that died here leaves it frozen.
func (h *host) copyStill(sandbox, from, to string, paused bool) error {
	s, err := h.readState(sandbox)
	if err != nil || !alive(s) {
		return rootfsStep("copy the disk", copyDisk(from, to))
	}
	if err := flush(from); err != nil { // syncs most of it while the processes are still running
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

// copyDiskOf creates the disk of a stopped sandbox from a snapshot, with its own files.
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

// settle syncs a file and renames it into place.
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
		return nil, rootfsStep("rename the copy", err)
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

// flush syncs the mounted file system of a disk to the disk's file and empties its journal. It mounts the same device
// once more, since the sandbox's mounts are not visible here.
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
		return rootfsStep("sync the file system", err)
	}
	return rootfsStep("empty the journal", unix.IoctlSetPointerInt(root, kernel.Ext4Checkpoint, 0))
}

// loopOf returns the loop device to which a disk is attached.
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

// withDisk mounts an unmounted disk while work runs.
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

// replaceFiles writes files below a folder that a sandbox could change: it follows no links, and removes whatever is in
// a file's place instead of opening it. If the sandbox replaced the folder, that is left as it is.
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
