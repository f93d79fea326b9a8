package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
	"unsafe"
)

const (
	x32Bit          = 0x4000_0000
	call386Getpid   = 20
	call386Socket   = 102 // socketcall, whose arguments lie in memory
	socketcallMake  = 1
	map32Bit        = 0x40
	highestFamily   = 63
	highestProtocol = 31

	threadKilledAfter = 5 * time.Second
)

// int80 is a system call as programs of 32 bits make it.
func int80(number, first, second uint32) uint32

var foreignAttacks = map[string]attack{
	// families: any family of sockets but unix, IPv4, IPv6 and netlink.
	"families": func([]string) error {
		return eachFamily(func(family, kind int) error {
			return call(syscall.SYS_SOCKET, uintptr(family), uintptr(kind), 0)
		})
	},
	"families-of-pairs": func([]string) error {
		return eachFamily(func(family, kind int) error {
			var pair [2]int32
			return call(syscall.SYS_SOCKETPAIR, uintptr(family), uintptr(kind), 0, uintptr(unsafe.Pointer(&pair[0])))
		})
	},
	// families-beyond-32-bits: the kernel takes the lower half of an argument; a filter that compares all of it is passed by.
	"families-beyond-32-bits": func([]string) error {
		return call(syscall.SYS_SOCKET, 1<<32|vsockFamily, syscall.SOCK_STREAM, 0)
	},
	// netlink: every protocol but that of routes.
	"netlink": func([]string) error {
		var attempts []error
		for protocol := 1; protocol <= highestProtocol; protocol++ {
			attempts = append(attempts, call(syscall.SYS_SOCKET, syscall.AF_NETLINK, syscall.SOCK_RAW, uintptr(protocol)))
		}
		return anyOf(attempts...)
	},
	// foreign: a call of another architecture; each in a process of its own, since a filter may kill it.
	"foreign": func([]string) error {
		var attempts []error
		for _, way := range []string{"foreign-386", "foreign-386-socket", "foreign-x32"} {
			// A filter of libseccomp kills only the thread that calls; the rest of the process would wait for it forever.
			lifetime, end := context.WithTimeout(context.Background(), threadKilledAfter)
			output, err := exec.CommandContext(lifetime, "/proc/self/exe", way).CombinedOutput()
			end()
			if err != nil {
				err = fmt.Errorf("%s: %w %.80s", way, err, output)
			}
			attempts = append(attempts, err)
		}
		return anyOf(attempts...)
	},
	"foreign-386": func([]string) error {
		if pid := int80(call386Getpid, 0, 0); int(pid) != os.Getpid() {
			return fmt.Errorf("answered %#x", pid)
		}
		return nil
	},
	// A family that no sandbox may have, by the call whose arguments no filter can see.
	"foreign-386-socket": func([]string) error {
		page, _, errno := syscall.RawSyscall6(syscall.SYS_MMAP, 0, 4096, syscall.PROT_READ|syscall.PROT_WRITE,
			syscall.MAP_PRIVATE|syscall.MAP_ANON|map32Bit, ^uintptr(0), 0)
		if errno != 0 {
			return errno
		}
		*(*[3]uint32)(unsafe.Pointer(page)) = [3]uint32{vsockFamily, syscall.SOCK_STREAM, 0}
		if answer := int32(int80(call386Socket, socketcallMake, uint32(page))); answer < 0 {
			return syscall.Errno(-answer)
		}
		return nil
	},
	"foreign-x32": func([]string) error {
		pid, _, errno := syscall.RawSyscall(syscall.SYS_GETPID|x32Bit, 0, 0, 0)
		if errno != 0 {
			return errno
		}
		if int(pid) != os.Getpid() {
			return errors.New("answered another")
		}
		return nil
	},
}

// eachFamily leaves out those that a sandbox may have.
func eachFamily(open func(family, kind int) error) error {
	var attempts []error
	for family := 0; family <= highestFamily; family++ {
		switch family {
		case syscall.AF_UNIX, syscall.AF_INET, syscall.AF_INET6, syscall.AF_NETLINK:
			continue
		}
		for _, kind := range []int{syscall.SOCK_STREAM, syscall.SOCK_DGRAM, syscall.SOCK_RAW, syscall.SOCK_SEQPACKET} {
			attempts = append(attempts, open(family, kind))
		}
	}
	return anyOf(attempts...)
}
