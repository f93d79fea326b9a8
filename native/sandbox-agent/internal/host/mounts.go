package host

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// The mount calls of Linux 5.2 to 5.12 have the same numbers on every architecture.
const (
	sysOpenTree     = 428
	sysMoveMount    = 429
	sysFsopen       = 430
	sysFsconfig     = 431
	sysFsmount      = 432
	sysMountSetattr = 442

	openTreeClone      = 1
	atEmptyPath        = 0x1000
	atFdcwd            = -100
	moveMountEmptyPath = 0x4

	mountAttrReadOnly = 0x1
	mountAttrNosuid   = 0x2
	mountAttrNodev    = 0x4
	mountAttrIdmap    = 0x100000

	fsconfigSetString = 1
	fsconfigCreate    = 6

	busyAttempts = 2000

	maxLayers = 128
)

type mountAttr struct {
	set, clear, propagation, usernsFd uint64
}

// mountMapped attaches a detached mount under target with the ids of the user namespace.
func mountMapped(mount int, userns int, flags uint64, target string) error {
	attr := mountAttr{set: mountAttrIdmap | flags, usernsFd: uint64(userns)}
	empty := [1]byte{}
	for attempt := 0; ; attempt++ {
		_, _, errno := syscall.Syscall6(sysMountSetattr, uintptr(mount), uintptr(unsafe.Pointer(&empty)), atEmptyPath,
			uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
		if errno == 0 {
			break
		}
		// Busy while a file that we wrote and closed is still open in a child that another start is just forking.
		if errno != syscall.EBUSY || attempt >= busyAttempts {
			return errno
		}
		time.Sleep(time.Millisecond)
	}
	path, err := syscall.BytePtrFromString(target)
	if err != nil {
		return err
	}
	at := atFdcwd
	if _, _, errno := syscall.Syscall6(sysMoveMount, uintptr(mount), uintptr(unsafe.Pointer(&empty)), uintptr(at),
		uintptr(unsafe.Pointer(path)), moveMountEmptyPath, 0); errno != 0 {
		return errno
	}
	return nil
}

// mountLayers makes the layers of an image visible with the sandbox's ids, read-only, and answers them as overlayfs wants
// them, relative to the folder: the whole list must fit in a page.
func mountLayers(layers []string, userns int, folder string) (string, error) {
	if len(layers) == 0 || len(layers) > maxLayers {
		return "", rootfsStep("mount the image", syscall.EINVAL)
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
	path, err := syscall.BytePtrFromString(layer)
	if err != nil {
		return err
	}
	at := atFdcwd
	tree, _, errno := syscall.Syscall(sysOpenTree, uintptr(at), uintptr(unsafe.Pointer(path)), openTreeClone|syscall.O_CLOEXEC)
	if errno != 0 {
		return rootfsStep("open the image", errno)
	}
	defer syscall.Close(int(tree))
	return rootfsStep("map the image's ids", mountMapped(int(tree), userns, mountAttrReadOnly|mountAttrNodev, target))
}

// mountDisk mounts an ext4 block device so that the files on it belong to ids from 0 on, whatever ids run now. A fresh
// disk is filled before the ids are mapped: our own root is not one of the sandbox's users.
func mountDisk(device string, userns int, target string, fill func(root string) error) error {
	mount, err := mountDetached(device)
	if err != nil {
		return err
	}
	defer syscall.Close(mount)
	if err := fill(descriptorPath(mount)); err != nil {
		return err
	}
	return rootfsStep("map the disk's ids", mountMapped(mount, userns, mountAttrNodev, target))
}

// mountDetached mounts an ext4 block device at no place; the mount ends with its descriptor.
func mountDetached(device string) (int, error) {
	name := [...]byte{'e', 'x', 't', '4', 0}
	context, _, errno := syscall.Syscall(sysFsopen, uintptr(unsafe.Pointer(&name)), 1, 0)
	if errno != 0 {
		return 0, rootfsStep("open ext4", errno)
	}
	defer syscall.Close(int(context))
	key := [...]byte{'s', 'o', 'u', 'r', 'c', 'e', 0}
	value, err := syscall.BytePtrFromString(device)
	if err != nil {
		return 0, err
	}
	if _, _, errno = syscall.Syscall6(sysFsconfig, context, fsconfigSetString, uintptr(unsafe.Pointer(&key)),
		uintptr(unsafe.Pointer(value)), 0, 0); errno != 0 {
		return 0, rootfsStep("name the disk", errno)
	}
	if _, _, errno = syscall.Syscall6(sysFsconfig, context, fsconfigCreate, 0, 0, 0, 0); errno != 0 {
		return 0, rootfsStep("mount the disk", errno)
	}
	mount, _, errno := syscall.Syscall(sysFsmount, context, 1, mountAttrNodev)
	if errno != 0 {
		return 0, rootfsStep("mount the disk", errno)
	}
	return int(mount), nil
}

func descriptorPath(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// mountOverlay joins image and disk. The kernel keeps the mounter's identity for the file system's own work, and both
// layers have the sandbox's ids, so the mounter must be one of them: a thread takes that id on, keeps its capabilities
// and is thrown away.
func mountOverlay(lower, folder string, id uint32) error {
	const prSetSecurebits, noSetuidFixup = 28, 1 << 2
	data := "lowerdir=" + lower + ",upperdir=disk/upper,workdir=disk/work,redirect_dir=on,index=off"
	return onThread(func() error {
		if err := syscall.Unshare(syscall.CLONE_FS); err != nil { // a working folder of the thread's own
			return rootfsStep("unshare the working folder", err)
		}
		if err := syscall.Chdir(folder); err != nil {
			return rootfsStep("enter the run folder", err)
		}
		if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, prSetSecurebits, noSetuidFixup, 0); errno != 0 {
			return rootfsStep("keep capabilities", errno)
		}
		_, _, _ = syscall.RawSyscall(syscall.SYS_SETFSUID, uintptr(id), 0, 0)
		_, _, _ = syscall.RawSyscall(syscall.SYS_SETFSGID, uintptr(id), 0, 0)
		return rootfsStep("mount the root file system", syscall.Mount("overlay", "rootfs", "overlay", syscall.MS_NODEV, data))
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
	entries, err := os.ReadDir(folder + "/layers")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return step("list the layers", err)
	}
	for _, entry := range entries {
		if err := unmount(folder + "/layers/" + entry.Name()); err != nil {
			return err
		}
	}
	return nil
}

// unmount detaches until nothing is mounted there; a directory that is no mount point is fine.
func unmount(target string) error {
	for range 8 {
		err := syscall.Unmount(target, syscall.MNT_DETACH)
		if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOENT) {
			return nil
		}
		if err != nil {
			return step("unmount "+target, err)
		}
	}
	return step("unmount "+target, syscall.EBUSY)
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
		Files: []uintptr{}, Sys: &syscall.SysProcAttr{
			Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET, UidMappings: mapping, GidMappings: mapping,
			GidMappingsEnableSetgroups: true, Ptrace: true,
		}})
	if err != nil {
		return nil, step("make the user namespace", err)
	}
	defer func() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
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
