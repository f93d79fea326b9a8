package host

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

const maxBuckets = 8

// bucket is a mounted folder of a bucket, served over FUSE by a program outside the sandbox.
type bucket struct {
	Path     string `json:"path"`
	ReadOnly bool   `json:"read_only"`
	// Program serves the mount with these settings, under user and group IDs that no other process of this machine has.
	Program  string         `json:"program"`
	Settings map[string]any `json:"settings"`
	// Spool is a folder for files being written, used by this mount only.
	Spool string `json:"spool"`
}

// folder is a mount of a sandbox other than its root.
type folder struct {
	Path     string
	ReadOnly bool
}

// folders returns the volumes, then the buckets.
func (p *plan) folders() []folder {
	all := []folder{}
	for _, each := range p.Volumes {
		all = append(all, folder{each.Path, each.ReadOnly})
	}
	for _, each := range p.Buckets {
		all = append(all, folder{each.Path, each.ReadOnly})
	}
	return all
}

// openFolders creates detached mounts of the volumes and buckets, in the order of folders. The caller closes them.
func (h *host) openFolders(p *plan, userns int, base uint32) ([]int, error) {
	if len(p.Buckets) > maxBuckets {
		return nil, step("read a request", errors.New("too many buckets"))
	}
	mounts, err := openVolumes(p.Volumes, userns)
	if err != nil {
		return nil, err
	}
	for _, each := range p.Buckets {
		mount, err := h.openBucket(each, base, p.UidCount)
		if err != nil {
			closeAll(mounts)
			return nil, step("mount "+each.Path, err)
		}
		mounts = append(mounts, mount)
	}
	return mounts, nil
}

// openBucket starts the program on one end of a new FUSE connection and returns a detached mount of the other. The
// program ends with the last mount. Files have host IDs, since not every kernel maps IDs for FUSE.
func (h *host) openBucket(b bucket, base, count uint32) (int, error) {
	device, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		return -1, err
	}
	defer device.Close()
	mount, err := mountFuse(int(device.Fd()), b.ReadOnly)
	if err != nil {
		return -1, err
	}
	if err := h.serveBucket(b, device, base, count); err != nil {
		_ = unix.Close(mount)
		return -1, err
	}
	return mount, nil
}

func mountFuse(device int, readOnly bool) (int, error) {
	context, err := unix.Fsopen("fuse", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, err
	}
	defer unix.Close(context)
	options := [...][2]string{
		{"source", "bucket"}, {"subtype", "bucket"}, {"fd", strconv.Itoa(device)},
		{"rootmode", "40000"}, {"user_id", "0"}, {"group_id", "0"},
	}
	for _, each := range options {
		if err := unix.FsconfigSetString(context, each[0], each[1]); err != nil {
			return -1, err
		}
	}
	for _, flag := range [...]string{"allow_other", "default_permissions"} {
		if err := unix.FsconfigSetFlag(context, flag); err != nil {
			return -1, err
		}
	}
	if err := unix.FsconfigCreate(context); err != nil {
		return -1, err
	}
	flags := unix.MOUNT_ATTR_NODEV | unix.MOUNT_ATTR_NOSUID
	if readOnly {
		flags |= unix.MOUNT_ATTR_RDONLY
	}
	return unix.Fsmount(context, unix.FSMOUNT_CLOEXEC, flags)
}

// serveBucket runs the program under the last IDs of the sandbox's range, which no other sandbox has.
func (h *host) serveBucket(b bucket, device *os.File, base, count uint32) error {
	id := base + count - 1
	spool, err := openSpool(b.Spool, int(id))
	if err != nil {
		return err
	}
	defer spool.Close()
	settings := map[string]any{"uid_base": base, "uid_count": count}
	for name, value := range b.Settings {
		settings[name] = value
	}
	content, err := json.Marshal(settings)
	if err != nil {
		return err
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirs.Close()
	_, err = ours.Write(content) // fits into the pipe's buffer
	_ = ours.Close()
	if err != nil {
		return err
	}
	null, err := os.OpenFile("/dev/null", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	_, _, err = h.reaper.Start(b.Program, []string{filepath.Base(b.Program)}, &syscall.ProcAttr{
		Dir: "/", Env: []string{"GOMAXPROCS=4", "GOMEMLIMIT=128MiB"},
		Files: []uintptr{theirs.Fd(), null.Fd(), null.Fd(), device.Fd(), spool.Fd()},
		Sys:   &unix.SysProcAttr{Setsid: true, Credential: &syscall.Credential{Uid: id, Gid: id}},
	})
	return err
}

// openSpool recreates the folder. Files of a previous program are unlinked already.
func openSpool(name string, id int) (*os.File, error) {
	if err := os.MkdirAll(name, 0o700); err != nil {
		return nil, err
	}
	if err := os.Chown(name, id, id); err != nil {
		return nil, err
	}
	return os.Open(name)
}
