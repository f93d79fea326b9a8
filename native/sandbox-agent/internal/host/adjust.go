package host

import (
	"os"
	"strconv"
	"syscall"
	"unsafe"
)

const (
	sysOpenat2 = 437

	resolveNoXdev       = 0x01
	resolveNoMagiclinks = 0x02
	resolveNoSymlinks   = 0x04
	resolveInRoot       = 0x10
)

// adjust gives a running sandbox that nobody has used yet its limits, its host name and the files that tell it.
func (h *host) adjust(r *request) (any, error) {
	s, err := h.readState(r.Sandbox)
	if err != nil {
		return nil, step("read the state", err)
	}
	pinned, err := pidfd(s) // from here on its pid is not another's
	if err != nil {
		return nil, step("find the sandbox's first process", err)
	}
	defer syscall.Close(pinned)
	if err := h.cgroups.adjust(r.Sandbox, *r.Limits); err != nil {
		return nil, err
	}
	if err := writeFiles(s.Pid, r.Files); err != nil {
		return nil, err
	}
	return map[string]any{}, setHostname(s.Pid, r.Hostname)
}

func setHostname(pid int, name string) error {
	namespace, err := os.Open("/proc/" + strconv.Itoa(pid) + "/ns/uts")
	if err != nil {
		return step("open the UTS namespace", err)
	}
	defer namespace.Close()
	return onThread(func() error {
		if _, _, errno := syscall.RawSyscall(sysSetnsNumber, namespace.Fd(), syscall.CLONE_NEWUTS, 0); errno != 0 {
			return step("enter the UTS namespace", errno)
		}
		return step("set the host name", syscall.Sethostname([]byte(name)))
	})
}

// writeFiles replaces the content of files that fillDisk made. No link is followed and nothing is created.
func writeFiles(pid int, files map[string]string) error {
	root, err := syscall.Open("/proc/"+strconv.Itoa(pid)+"/root", syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return step("open the sandbox's root", err)
	}
	defer syscall.Close(root)
	for name, content := range files {
		path, err := syscall.BytePtrFromString(name)
		if err != nil {
			return step("write "+name, err)
		}
		how := struct{ flags, mode, resolve uint64 }{
			flags:   syscall.O_WRONLY | syscall.O_TRUNC | syscall.O_CLOEXEC | syscall.O_NOFOLLOW,
			resolve: resolveInRoot | resolveNoSymlinks | resolveNoMagiclinks | resolveNoXdev,
		}
		fd, _, errno := syscall.Syscall6(sysOpenat2, uintptr(root), uintptr(unsafe.Pointer(path)),
			uintptr(unsafe.Pointer(&how)), unsafe.Sizeof(how), 0, 0)
		if errno != 0 {
			return step("open "+name, errno)
		}
		file := os.NewFile(fd, name)
		_, err = file.WriteString(content)
		_ = file.Close()
		if err != nil {
			return rootfsStep("write "+name, err)
		}
	}
	return nil
}
