package main

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

const (
	sysKeyctl          = 250
	sysSetns           = 308
	sysFinitModule     = 313
	sysBpf             = 321
	sysUserfaultfd     = 323
	sysIoUringSetup    = 425
	sysNameToHandle    = 303
	sysOpenByHandle    = 304
	sysProcessVMReadv  = 310
	sysPerfEventOpen   = 298
	sysFsopen          = 430
	sysMoveMount       = 429
	adjSetOffset       = 0x100
	syslogReadAll      = 3
	vsockFamily        = 40
	clonePrivateSpaces = syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWUTS
)

func call(number uintptr, arguments ...uintptr) error {
	var a [6]uintptr
	copy(a[:], arguments)
	_, _, errno := syscall.RawSyscall6(number, a[0], a[1], a[2], a[3], a[4], a[5])
	return reached(errno)
}

func text(value string) uintptr {
	bytes := append([]byte(value), 0)
	return uintptr(unsafe.Pointer(&bytes[0]))
}

var kernelAttacks = map[string]attack{
	"mount": func([]string) error {
		folder, err := os.MkdirTemp("", "probe")
		if err != nil {
			return err
		}
		defer os.Remove(folder)
		if err := syscall.Mount("none", folder, "tmpfs", 0, ""); err != nil {
			return err
		}
		return syscall.Unmount(folder, 0)
	},
	"mount-proc": func([]string) error {
		folder, err := os.MkdirTemp("", "probe")
		if err != nil {
			return err
		}
		defer os.Remove(folder)
		if err := syscall.Mount("proc", folder, "proc", 0, ""); err != nil {
			return err
		}
		return syscall.Unmount(folder, syscall.MNT_DETACH)
	},
	"fsopen":  func([]string) error { return call(sysFsopen, text("tmpfs"), 0) },
	"unmount": func(paths []string) error { return syscall.Unmount(paths[0], syscall.MNT_DETACH) },
	"unshare": func([]string) error { return call(syscall.SYS_UNSHARE, clonePrivateSpaces) },
	"unshare-user": func([]string) error {
		attributes := &os.ProcAttr{Sys: &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER}}
		child, err := os.StartProcess("/proc/self/exe", []string{"probe", "nothing"}, attributes)
		if err != nil {
			return err
		}
		_, err = child.Wait()
		return err
	},
	"nothing": func([]string) error { return nil },
	"setns": func([]string) error {
		space, err := os.Open("/proc/self/ns/net")
		if err != nil {
			return err
		}
		defer space.Close()
		return call(sysSetns, space.Fd(), syscall.CLONE_NEWNET)
	},
	"pivot-root":  func([]string) error { return call(syscall.SYS_PIVOT_ROOT, text("/"), text("/")) },
	"move-mount":  func([]string) error { return call(sysMoveMount, 0, text("/"), 0, text("/tmp"), 0) },
	"keyctl":      func([]string) error { return call(sysKeyctl, 0, ^uintptr(2), 0) }, // the session's keyring
	"bpf":         bpf,
	"perf":        perf,
	"userfaultfd": func([]string) error { return call(sysUserfaultfd, syscall.O_CLOEXEC) },
	"io-uring": func([]string) error {
		var parameters [120]byte
		return call(sysIoUringSetup, 4, uintptr(unsafe.Pointer(&parameters[0])))
	},
	"module":  func([]string) error { return call(sysFinitModule, ^uintptr(0), text(""), 0) },
	"kexec":   func([]string) error { return call(syscall.SYS_KEXEC_LOAD, 0, 0, 0, 0xdead) }, // flags that do not exist
	"reboot":  func([]string) error { return call(syscall.SYS_REBOOT, 0, 0, 0, 0) },          // without its magic numbers
	"swap-on": func([]string) error { return call(syscall.SYS_SWAPON, text("/dev/null"), 0) },
	"ports":   func([]string) error { return call(syscall.SYS_IOPL, 3) },
	"clock": func([]string) error {
		_, err := syscall.Adjtimex(&syscall.Timex{Modes: adjSetOffset}) // by nothing
		return err
	},
	"hostname": func([]string) error { return syscall.Sethostname([]byte("taken-over")) },
	"kernel-log": func([]string) error {
		_, err := syscall.Klogctl(syslogReadAll, make([]byte, 4096))
		return err
	},
	"node": func([]string) error {
		path := "/tmp/probe-node"
		defer os.Remove(path)
		return anyOf(syscall.Mknod(path, syscall.S_IFCHR|0o600, 1<<8|1), syscall.Mknod(path, syscall.S_IFBLK|0o600, 7<<8))
	},
	"file-handle": fileHandle,
	"read-memory": func(arguments []string) error {
		pid := numberOf(arguments)
		var local [8]byte
		remote := uintptr(unsafe.Pointer(&local[0]))
		vectors := [2]syscall.Iovec{{Base: &local[0], Len: 8}, {Base: (*byte)(unsafe.Pointer(remote)), Len: 8}}
		return call(sysProcessVMReadv, uintptr(pid), uintptr(unsafe.Pointer(&vectors[0])), 1,
			uintptr(unsafe.Pointer(&vectors[1])), 1, 0)
	},
	"vsock": func([]string) error { return socket(vsockFamily, syscall.SOCK_STREAM, 0) },
}

func bpf([]string) error {
	// BPF_MAP_CREATE of an array with four-byte keys and values and one entry.
	attributes := [32]uint32{2, 4, 4, 1}
	return call(sysBpf, 0, uintptr(unsafe.Pointer(&attributes[0])), unsafe.Sizeof(attributes))
}

func perf([]string) error {
	// PERF_TYPE_SOFTWARE, size, PERF_COUNT_SW_CPU_CLOCK; of this process.
	attributes := [32]uint32{1, 128}
	return call(sysPerfEventOpen, uintptr(unsafe.Pointer(&attributes[0])), 0, ^uintptr(0), ^uintptr(0), 0)
}

// fileHandle opens the root of the file system by its number, past every mount and link.
func fileHandle([]string) error {
	type handle struct {
		bytes uint32
		kind  int32
		data  [128]byte
	}
	h, mount := handle{bytes: 128}, int32(0)
	const here = ^uintptr(99) // AT_FDCWD
	_, _, errno := syscall.RawSyscall6(sysNameToHandle, here, text("/"), uintptr(unsafe.Pointer(&h)),
		uintptr(unsafe.Pointer(&mount)), 0, 0)
	if errno != 0 { // some file systems give none: then one that is made up
		h = handle{bytes: 8, kind: 1, data: [128]byte{2}}
	}
	root, err := os.Open("/")
	if err != nil {
		return err
	}
	defer root.Close()
	_, _, errno = syscall.RawSyscall(sysOpenByHandle, root.Fd(), uintptr(unsafe.Pointer(&h)), syscall.O_RDONLY)
	if errno == syscall.EOPNOTSUPP {
		return errors.New("no handles here")
	}
	return reached(errno)
}
