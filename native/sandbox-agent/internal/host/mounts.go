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

// mountMapped attaches a detached mount under target with the ids of the user namespace.
func mountMapped(mount int, userns int, flags uint64, target string) error {
	if err := mapIDs(mount, userns, flags); err != nil {
		return err
	}
	return unix.MoveMount(mount, "", unix.AT_FDCWD, target, unix.MOVE_MOUNT_F_EMPTY_PATH)
}

// mapIDs gives a detached mount the ids of the user namespace, and further attributes.
func mapIDs(mount int, userns int, flags uint64) error {
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_IDMAP | flags, Userns_fd: uint64(userns)}
	for attempt := 0; ; attempt++ {
		err := unix.MountSetattr(mount, "", unix.AT_EMPTY_PATH, &attr)
		// Busy while a file that we wrote and closed is still open in a child that another start is just forking.
		if err != unix.EBUSY || attempt >= busyAttempts {
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

// mountLayers makes the layers of an image visible with the sandbox's ids, read-only, and answers them as overlayfs wants
// them, relative to the folder: the whole list must fit in a page.
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
	return rootfsStep("map the image's ids", mountMapped(tree, userns, flags, target))
}

// mountDisk mounts an ext4 block device so that the files on it belong to ids from 0 on, whatever ids run now. A fresh
// disk is filled before the ids are mapped: our own root is not one of the sandbox's users.
func mountDisk(device string, userns int, target string, fill func(root string) error) error {
	mount, err := mountDetached(device)
	if err != nil {
		return err
	}
	defer unix.Close(mount)
	if err := fill(descriptorPath(mount)); err != nil {
		return err
	}
	return rootfsStep("map the disk's ids", mountMapped(mount, userns, unix.MOUNT_ATTR_NODEV, target))
}

// mountDetached mounts an ext4 block device at no place; the mount ends with its descriptor.
func mountDetached(device string) (int, error) {
	context, err := unix.Fsopen("ext4", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return 0, rootfsStep("open ext4", err)
	}
	defer unix.Close(context)
	if err := unix.FsconfigSetString(context, "source", device); err != nil {
		return 0, rootfsStep("name the disk", err)
	}
	if err := unix.FsconfigCreate(context); err != nil {
		return 0, rootfsStep("mount the disk", err)
	}
	mount, err := unix.Fsmount(context, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_NODEV)
	return mount, rootfsStep("mount the disk", err)
}

func descriptorPath(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// mountOverlay joins image and disk. The kernel keeps the mounter's identity for the file system's own work, and both
// layers have the sandbox's ids, so the mounter must be one of them: a thread takes that id on, keeps its capabilities
// and is thrown away.
func mountOverlay(lower, folder string, id uint32, layerable bool) error {
	redirects := "on"
	if layerable {
		redirects = "off" // a renamed folder is copied: a layer holds all that it shows
	}
	data := "lowerdir=" + lower + ",upperdir=disk/upper,workdir=disk/work,redirect_dir=" + redirects + ",index=off"
	return onThread(func() error {
		if err := unix.Unshare(unix.CLONE_FS); err != nil { // a working folder of the thread's own
			return rootfsStep("unshare the working folder", err)
		}
		if err := unix.Chdir(folder); err != nil {
			return rootfsStep("enter the run folder", err)
		}
		if err := unix.Prctl(unix.PR_SET_SECUREBITS, kernel.NoSetuidFixup, 0, 0, 0); err != nil {
			return rootfsStep("keep capabilities", err)
		}
		if err := errors.Join(unix.Setfsuid(int(id)), unix.Setfsgid(int(id))); err != nil {
			return rootfsStep("take the sandbox's id", err)
		}
		return rootfsStep("mount the root file system", unix.Mount("overlay", "rootfs", "overlay", unix.MS_NODEV, data))
	})
}

// onThread works on an operating system thread of its own, which ends with the work and what it changed of itself.
func onThread(work func() error) error {
	result := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		result <- work()
	}()
	return <-result
}

// unmountRoot takes away what mountRoot made; what is not there is fine.
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

// unmount detaches until nothing is mounted there; a directory that is no mount point is fine.
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

// namespaces are the two that exist before the runtime is called: others are mapped and wired by them.
type namespaces struct{ user, network *os.File }

func (n *namespaces) close() {
	_ = n.user.Close()
	_ = n.network.Close()
}

// newNamespaces starts a child in a fresh user and network namespace, stopped at its first instruction, keeps
// descriptors of both and kills it.
func (h *host) newNamespaces(base, count uint32) (*namespaces, error) {
	runtime.LockOSThread() // the tracer is a thread, not a process
	defer runtime.UnlockOSThread()
	mapping := []syscall.SysProcIDMap{{ContainerID: 0, HostID: int(base), Size: int(count)}}
	pid, done, err := h.reaper.Start("/proc/self/exe", []string{"sandbox-agent"}, &syscall.ProcAttr{
		Files: []uintptr{}, Sys: &unix.SysProcAttr{
			Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNET, UidMappings: mapping, GidMappings: mapping,
			GidMappingsEnableSetgroups: true, Ptrace: true,
		}})
	if err != nil {
		return nil, step("make the user namespace", err)
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
