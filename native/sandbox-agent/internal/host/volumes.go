package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"svc.dev/sandbox-agent/internal/kernel"
)

const (
	maxVolumes = 16
	// detachLimit bounds the wait for mounts of sandboxes that have ended.
	detachLimit     = time.Second
	detachPollEvery = 5 * time.Millisecond
	// volumeFlags: files of a volume gain no rights in the sandboxes that mount it.
	volumeFlags = uint64(unix.MOUNT_ATTR_NODEV | unix.MOUNT_ATTR_NOSUID)
)

// volume is a separate file system of a sandbox: a disk file that outlives the sandbox.
type volume struct {
	ID       string `json:"id"`
	File     string `json:"file"`
	Path     string `json:"path"`
	ReadOnly bool   `json:"read_only"`
}

// lockVolumes prevents mounting, copying and resizing by others. Callers lock the sandbox first, then volumes in this
// order.
func (h *host) lockVolumes(volumes []volume) (func(), error) {
	if len(volumes) > maxVolumes {
		return nil, step("read a request", errors.New("too many volumes"))
	}
	ids := []string{}
	for _, each := range volumes {
		if !validID(each.ID) || slices.Contains(ids, each.ID) {
			return nil, step("read a request", errors.New("invalid volumes"))
		}
		ids = append(ids, each.ID)
	}
	slices.Sort(ids)
	unlocks := []func(){}
	for _, id := range ids {
		unlocks = append(unlocks, h.locks.lock(id))
	}
	return func() {
		for _, unlock := range unlocks {
			unlock()
		}
	}, nil
}

// mountBareRoot is the root in which the first process of a volume's server gives up its privileges, with place for mount
// points. The volume becomes its root afterwards.
func mountBareRoot(place string, base uint32) error {
	id := strconv.Itoa(int(base))
	options := "size=64k,nr_inodes=64,mode=755,uid=" + id + ",gid=" + id
	flags := uintptr(unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC)
	return rootfsStep("mount the root", unix.Mount("tmpfs", place+"/rootfs", "tmpfs", flags, options))
}

// assertFree fails if another running sandbox writes to a volume, or reads one that this sandbox would write to. The server of
// a volume conflicts with no sandbox: all mounts are of one file system, and each of its changes is complete when it ends.
func (h *host) assertFree(sandbox string, volumes []volume) error {
	if len(volumes) == 0 {
		return nil
	}
	others, err := h.mounters()
	if err != nil {
		return err
	}
	for _, other := range others {
		if other.Sandbox == sandbox || other.ServesVolume {
			continue
		}
		for _, wanted := range volumes {
			held := other.volume(wanted.ID)
			if held != nil && !(held.ReadOnly && wanted.ReadOnly) {
				return step("mount "+wanted.Path, errors.New("another sandbox is still using the volume"))
			}
		}
	}
	return nil
}

// mounters returns the running sandboxes with volumes, and the servers of volumes.
func (h *host) mounters() ([]*state, error) {
	entries, err := os.ReadDir(h.path("sandboxes"))
	if err != nil {
		return nil, step("list sandboxes", err)
	}
	found := []*state{}
	for _, entry := range entries {
		if s, err := h.readState(entry.Name()); err == nil && len(s.Volumes) > 0 && alive(s) {
			found = append(found, s)
		}
	}
	return found, nil
}

// volume returns nil if the sandbox has not mounted it.
func (s *state) volume(id string) *volume {
	for index := range s.Volumes {
		if s.Volumes[index].ID == id {
			return &s.Volumes[index]
		}
	}
	return nil
}

// volumeBytes is the disk usage of the volumes that the sandbox can write to.
func (s *state) volumeBytes() int64 {
	total := int64(0)
	for _, each := range s.Volumes {
		var stat unix.Stat_t
		if !each.ReadOnly && unix.Stat(each.File, &stat) == nil {
			total += stat.Blocks * 512
		}
	}
	return total
}

// openVolumes creates detached mounts of volumes with the ID mapping of the user namespace. The caller closes them.
func openVolumes(volumes []volume, userns int) ([]int, error) {
	mounts := []int{}
	for _, each := range volumes {
		mount, err := openVolume(each, userns)
		if err != nil {
			closeAll(mounts)
			return nil, err
		}
		mounts = append(mounts, mount)
	}
	return mounts, nil
}

func closeAll(descriptors []int) {
	for _, each := range descriptors {
		_ = unix.Close(each)
	}
}

func openVolume(v volume, userns int) (int, error) {
	mount, err := mountVolumeFile(v.File)
	if err != nil {
		return -1, err
	}
	flags := volumeFlags
	if v.ReadOnly {
		flags |= unix.MOUNT_ATTR_RDONLY
	}
	if err := mapIDs(mount, userns, flags); err != nil {
		_ = unix.Close(mount)
		return -1, rootfsStep("map the IDs of "+v.Path, err)
	}
	return mount, nil
}

// mountFolders mounts volumes and buckets where a runtime finds them for a bind mount.
func (h *host) mountFolders(place string, p *plan, userns int, base uint32) error {
	mounts, err := h.openFolders(p, userns, base)
	if err != nil {
		return err
	}
	defer closeAll(mounts)
	for index, each := range p.folders() {
		target := volumePlace(place, index)
		err := os.MkdirAll(target, 0o711)
		if err == nil {
			err = unix.MoveMount(mounts[index], "", unix.AT_FDCWD, target, unix.MOVE_MOUNT_F_EMPTY_PATH)
		}
		if err != nil {
			return rootfsStep("mount "+each.Path, err)
		}
	}
	return nil
}

func volumePlace(place string, index int) string { return place + "/volumes/" + strconv.Itoa(index) }

// mountVolumeFile creates a detached mount. All mounts of a volume must use one device: two devices would be two file
// systems in one file.
func mountVolumeFile(file string) (int, error) {
	device, handle, err := attachVolume(file)
	if err != nil {
		return -1, err
	}
	defer handle.Close()
	return mountDetached(device)
}

// attachVolume returns the device to which the file is attached, attaching it if necessary. The device exists while the
// handle is open.
func attachVolume(file string) (string, *os.File, error) {
	device, err := loopOf(file)
	if errors.Is(err, os.ErrNotExist) {
		return attachDisk(file)
	}
	if err != nil {
		return "", nil, rootfsStep("find the volume's device", err)
	}
	number, err := strconv.Atoi(strings.TrimPrefix(device, "/dev/loop"))
	if err != nil {
		return "", nil, rootfsStep("find the volume's device", err)
	}
	handle, err := openLoop(device, number)
	if err == nil && backs(handle, file) {
		return device, handle, nil
	}
	if err == nil {
		_ = handle.Close()
	} else if !errors.Is(err, unix.ENXIO) {
		return "", nil, rootfsStep("open "+device, err)
	}
	return attachDisk(file) // its last mount has just ended, and the device with it
}

// backs reports whether the file backs the open device, which cannot change while the device is open.
func backs(device *os.File, file string) bool {
	info, err := unix.IoctlLoopGetStatus64(int(device.Fd()))
	var stat unix.Stat_t
	return err == nil && unix.Stat(file, &stat) == nil && info.Inode == stat.Ino && info.Device == stat.Dev
}

// makeVolume creates an empty volume from a formatted template.
func makeVolume(from, to string) (any, error) {
	part := to + ".part"
	defer os.Remove(part) // has no effect after a rename
	if err := copyDisk(from, part); err != nil {
		return nil, rootfsStep("create the volume", err)
	}
	err := withDisk(part, func(root string) error {
		if err := unix.Rmdir(root + "/lost+found"); err != nil && err != unix.ENOENT {
			return rootfsStep("empty the volume", err)
		}
		// For every user of every sandbox that mounts it.
		return rootfsStep("make the volume writable for all users", os.Chmod(root, 0o777))
	})
	if err != nil {
		return nil, err
	}
	return sizeOnceSettled(part, to)
}

func sizeOnceSettled(part, to string) (any, error) {
	stat, err := settle(part, to)
	if err != nil {
		return nil, err
	}
	return map[string]any{"size_bytes": stat.Blocks * 512}, nil
}

// copyVolume copies a volume while nothing writes to it. Sandboxes that were not paused before resume afterwards.
func (h *host) copyVolume(r *request) (any, error) {
	part := r.To + ".part"
	defer os.Remove(part)
	if err := h.copyStillVolume(r.Sandbox, r.From, part, r.PausedSandboxes); err != nil {
		return nil, err
	}
	if err := withDisk(part, func(string) error { return nil }); err != nil {
		return nil, err
	}
	return sizeOnceSettled(part, r.To)
}

func (h *host) copyStillVolume(id, from, to string, paused []string) error {
	if err := flushAttached(from); err != nil { // syncs most of it while processes are still running
		return err
	}
	others, err := h.mounters()
	if err != nil {
		return err
	}
	for _, other := range others {
		held := other.volume(id)
		if held == nil || held.ReadOnly || slices.Contains(paused, other.Sandbox) {
			continue
		}
		defer h.cgroups.thaw(other.Sandbox)
		if err := h.cgroups.freeze(other.Sandbox); err != nil {
			return err
		}
	}
	if err := flushAttached(from); err != nil {
		return err
	}
	return rootfsStep("copy the volume", copyDisk(from, to))
}

// flushAttached syncs a mounted volume. A volume that is not mounted has nothing to sync.
func flushAttached(file string) error {
	if _, err := loopOf(file); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return flush(file)
}

// resizeVolume grows a volume. After an interruption, the next call completes it. The kernel resizes a mounted file
// system only with CAP_SYS_RESOURCE, which containers lack: in that case a program resizes it while it is not mounted.
func (h *host) resizeVolume(r *request) (any, error) {
	stat, err := os.Stat(r.From)
	if err != nil {
		return nil, rootfsStep("find the volume", err)
	}
	if stat.Size() < r.SizeBytes {
		if err := os.Truncate(r.From, r.SizeBytes); err != nil {
			return nil, rootfsStep("grow the volume", err)
		}
	}
	err = growMounted(r.From, r.SizeBytes)
	if errors.Is(err, unix.EPERM) {
		err = h.growUnmounted(r.From, r.Tool)
	}
	return map[string]any{}, err
}

func growMounted(file string, sizeBytes int64) error {
	device, handle, err := attachVolume(file)
	if err != nil {
		return err
	}
	defer handle.Close()
	if err := unix.IoctlSetInt(int(handle.Fd()), unix.LOOP_SET_CAPACITY, 0); err != nil {
		return rootfsStep("grow the volume's device", err)
	}
	mount, err := mountDetached(device)
	if err != nil {
		return err
	}
	defer unix.Close(mount)
	return growFileSystem(mount, sizeBytes)
}

// growUnmounted relies on the previous mount having emptied the journal. The volume's lock prevents others from
// mounting it.
func (h *host) growUnmounted(file, resizer string) error {
	for waited := time.Duration(0); ; waited += detachPollEvery {
		if _, err := loopOf(file); errors.Is(err, os.ErrNotExist) {
			break
		}
		if waited >= detachLimit {
			return &stepError{code: "VOLUME_MOUNTED", step: "grow the volume", err: errors.New("a sandbox has mounted it")}
		}
		time.Sleep(detachPollEvery)
	}
	devnull, err := os.OpenFile("/dev/null", os.O_RDWR, 0)
	if err != nil {
		return step("open /dev/null", err)
	}
	defer devnull.Close()
	null := devnull.Fd()
	_, done, err := h.reaper.Start(resizer, []string{filepath.Base(resizer), "-f", file}, &syscall.ProcAttr{
		Files: []uintptr{null, null, null}, Env: []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"},
	})
	if err != nil {
		return rootfsStep("start "+resizer, err)
	}
	if status := <-done; status != 0 {
		return rootfsStep("grow the volume's file system", fmt.Errorf("%s exited with code %d", filepath.Base(resizer), status.ExitStatus()))
	}
	return nil
}

func growFileSystem(mount int, sizeBytes int64) error {
	root, err := unix.Open(descriptorPath(mount), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return rootfsStep("open the volume's file system", err)
	}
	defer unix.Close(root)
	var used unix.Statfs_t
	if err := unix.Fstatfs(root, &used); err != nil {
		return rootfsStep("read the volume's size", err)
	}
	if err := kernel.ResizeExt4(root, uint64(sizeBytes/int64(used.Bsize))); err != nil {
		return rootfsStep("grow the volume's file system", err)
	}
	return rootfsStep("write the volume's size", unix.Syncfs(root))
}
