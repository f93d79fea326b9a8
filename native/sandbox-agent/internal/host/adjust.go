package host

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// inRootOnly follows no links and enters no other mounts, so that the sandbox's files cannot lead outside.
const inRootOnly = unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV

// adjust sets the limits, the host name and the host files of a running sandbox that has not been used yet.
func (h *host) adjust(r *request) (any, error) {
	s, err := h.readState(r.Sandbox)
	if err != nil {
		return nil, step("read the state", err)
	}
	pinned, err := pidfd(s) // pinned: from here on its PID cannot be reused
	if err != nil {
		return nil, step("find the sandbox's first process", err)
	}
	defer unix.Close(pinned)
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
		if err := unix.Setns(int(namespace.Fd()), unix.CLONE_NEWUTS); err != nil {
			return step("enter the UTS namespace", err)
		}
		return step("set the host name", unix.Sethostname([]byte(name)))
	})
}

// writeFiles replaces the content of files that fillDisk created. It follows no links and creates no files.
func writeFiles(pid int, files map[string]string) error {
	root, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/root", unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return step("open the sandbox's root", err)
	}
	defer unix.Close(root)
	for name, content := range files {
		fd, err := unix.Openat2(root, name, &unix.OpenHow{
			Flags:   unix.O_WRONLY | unix.O_TRUNC | unix.O_CLOEXEC | unix.O_NOFOLLOW,
			Resolve: inRootOnly,
		})
		if err != nil {
			return step("open "+name, err)
		}
		file := os.NewFile(uintptr(fd), name)
		_, err = file.WriteString(content)
		_ = file.Close()
		if err != nil {
			return rootfsStep("write "+name, err)
		}
	}
	return nil
}
