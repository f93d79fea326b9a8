package host

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"svc.dev/sandbox-agent/internal/kernel"
)

const (
	busyAttempts = 2000
	maxLayers    = 128
)

// mountMapped attaches a detached mount to target with the ID mapping of the user namespace.
func mountMapped(mount int, userns int, flags uint64, target string) error {
	if err := mapIDs(mount, userns, flags); err != nil {
		return err
	}
	return unix.MoveMount(mount, "", unix.AT_FDCWD, target, unix.MOVE_MOUNT_F_EMPTY_PATH)
}

// mapIDs sets the ID mapping of the user namespace and further attributes on a detached mount.
func mapIDs(mount int, userns int, flags uint64) error {
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_IDMAP | flags, Userns_fd: uint64(userns)}
	for attempt := 0; ; attempt++ {
		err := unix.MountSetattr(mount, "", unix.AT_EMPTY_PATH, &attr)
		// EBUSY while another start's forking child still holds a file that was written and closed here.
		if err != unix.EBUSY || attempt >= busyAttempts {
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

// mountLayers mounts the layers of an image read-only with the sandbox's ID mapping, and returns them in overlayfs
// syntax, relative to the folder, because the whole list must fit in one page.
func mountLayers(layers []string, userns int, folder string) (string, error) {
	if len(layers) == 0 || len(layers) > maxLayers {
		return "", rootfsStep("mount the image", unix.EINVAL)
	}
	names := make([]string, 0, len(layers))
	for index, layer := range layers {
		name := "layers/" + strconv.Itoa(index)
		if err := os.MkdirAll(folder+"/"+name, 0o711); err != nil {
			return "", rootfsStep("mount the image", err)
		}
		if err := mountLayer(layer, userns, folder+"/"+name); err != nil {
			return "", err
		}
		names = append(names, name)
	}
	return strings.Join(names, ":"), nil
}

func mountLayer(layer string, userns int, target string) error {
	tree, err := openTree(layer)
	if err != nil {
		return rootfsStep("open the image", err)
	}
	defer unix.Close(tree)
	flags := uint64(unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NODEV)
	return rootfsStep("map the image's IDs", mountMapped(tree, userns, flags, target))
}

// mountDisk mounts an ext4 block device so that file owners on it count from 0, whichever host IDs the sandbox has now.
// A new disk is filled before the IDs are mapped, because the host's root is not a user of the sandbox.
func mountDisk(device string, userns int, target string, fill func(root string) error) error {
	mount, err := mountDetached(device)
	if err != nil {
		return err
	}
	defer unix.Close(mount)
	if err := fill(descriptorPath(mount)); err != nil {
		return err
	}
	return rootfsStep("map the disk's IDs", mountMapped(mount, userns, unix.MOUNT_ATTR_NODEV, target))
}

// mountDetached creates a detached mount of an ext4 block device; it ends with its descriptor.
func mountDetached(device string) (int, error) {
	context, err := unix.Fsopen("ext4", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return 0, rootfsStep("open ext4", err)
	}
	defer unix.Close(context)
	if err := unix.FsconfigSetString(context, "source", device); err != nil {
		return 0, rootfsStep("set the disk's source", err)
	}
	if err := unix.FsconfigCreate(context); err != nil {
		return 0, rootfsStep("mount the disk", err)
	}
	mount, err := unix.Fsmount(context, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_NODEV)
	return mount, rootfsStep("mount the disk", err)
}

func descriptorPath(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// mountOverlay combines image and disk. The kernel uses the mounter's credentials for the file system's own work, and
// both layers have the sandbox's IDs, so the mounter must have them too: a discarded thread takes that ID and keeps its
// capabilities.
func mountOverlay(lower, folder string, id uint32, layerable bool) error {
	redirects := "on"
	if layerable {
		redirects = "off" // renaming a folder copies it, so that a layer contains everything it shows
	}
	data := "lowerdir=" + lower + ",upperdir=disk/upper,workdir=disk/work,redirect_dir=" + redirects + ",index=off"
	return onThread(func() error {
		if err := unix.Unshare(unix.CLONE_FS); err != nil { // gives the thread a working folder of its own
			return rootfsStep("unshare the working folder", err)
		}
		if err := unix.Chdir(folder); err != nil {
			return rootfsStep("enter the run folder", err)
		}
		if err := unix.Prctl(unix.PR_SET_SECUREBITS, kernel.NoSetuidFixup, 0, 0, 0); err != nil {
			return rootfsStep("keep capabilities", err)
		}
		if err := errors.Join(unix.Setfsuid(int(id)), unix.Setfsgid(int(id))); err != nil {
			return rootfsStep("switch to the sandbox's ID", err)
		}
		return rootfsStep("mount the root file system", unix.Mount("overlay", "rootfs", "overlay", unix.MS_NODEV, data))
	})
}

// onThread runs work on a new operating system thread, which is discarded together with the changes to its state.
func onThread(work func() error) error {
	result := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		result <- work()
	}()
	return <-result
}

// unmountRoot undoes mountRoot. Missing mounts are not an error.
func unmountRoot(folder string) error {
	for _, mount := range mountPoints {
		if err := unmount(folder + mount); err != nil {
			return err
		}
	}
	for _, numbered := range numberedPlaces {
		entries, err := os.ReadDir(folder + numbered)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return step("list what is mounted", err)
		}
		for _, entry := range entries {
			if err := unmount(folder + numbered + "/" + entry.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

// unmount detaches all mounts stacked at target. A directory that is not a mount point is not an error.
func unmount(target string) error {
	for range 8 {
		err := unix.Unmount(target, unix.MNT_DETACH)
		if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOENT) {
			return nil
		}
		if err != nil {
			return step("unmount "+target, err)
		}
	}
	return step("unmount "+target, unix.EBUSY)
}

// namespaces are created before the runtime is called, because they must be mapped and configured first.
type namespaces struct{ user, network *os.File }

func (n *namespaces) close() {
	_ = n.user.Close()
	_ = n.network.Close()
}

// newNamespaces starts a child in new user and network namespaces, stopped at its first instruction, opens both
// namespaces and kills the child.
func (h *host) newNamespaces(base, count uint32) (*namespaces, error) {
	runtime.LockOSThread() // ptrace is bound to a thread, not a process
	defer runtime.UnlockOSThread()
	mapping := []syscall.SysProcIDMap{{ContainerID: 0, HostID: int(base), Size: int(count)}}
	pid, done, err := h.reaper.Start("/proc/self/exe", []string{"sandbox-agent"}, &syscall.ProcAttr{
		Files: []uintptr{}, Sys: &unix.SysProcAttr{
			Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNET, UidMappings: mapping, GidMappings: mapping,
			GidMappingsEnableSetgroups: true, Ptrace: true,
		}})
	if err != nil {
		return nil, step("create the user namespace", err)
	}
	defer func() {
		_ = unix.Kill(pid, unix.SIGKILL)
		<-done
	}()
	prefix := "/proc/" + strconv.Itoa(pid) + "/ns/"
	user, err := os.Open(prefix + "user")
	if err != nil {
		return nil, step("open the user namespace", err)
	}
	network, err := os.Open(prefix + "net")
	if err != nil {
		_ = user.Close()
		return nil, step("open the network namespace", err)
	}
	return &namespaces{user: user, network: network}, nil
}
