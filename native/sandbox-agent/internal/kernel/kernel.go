// Package kernel has what golang.org/x/sys/unix lacks, and the only unsafe code of this program. x/sys/unix sets
// capabilities and filters for the calling thread only. A Go program has several threads from the start, and a thread
// with leftover privileges would pass them on to its children.
package kernel

import (
	"errors"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// Ext4Checkpoint is EXT4_IOC_CHECKPOINT (Linux 5.14), which empties the journal.
	Ext4Checkpoint = 0x4004662B
	// ext4Resize is EXT4_IOC_RESIZE_FS.
	ext4Resize = 0x40086610
	// NoSetuidFixup is SECBIT_NO_SETUID_FIXUP: changing the user ID keeps the capabilities.
	NoSetuidFixup = 1 << 2
	// VethInfoPeer is VETH_INFO_PEER, the attribute that contains the peer of a veth pair.
	VethInfoPeer = 1
)

// ResizeExt4 resizes the mounted file system of an open folder to the given number of its blocks.
func ResizeExt4(folder int, blocks uint64) error {
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(folder), ext4Resize, uintptr(unsafe.Pointer(&blocks)))
	return orNil(errno)
}

// AllThreads makes a system call without pointers on every thread.
func AllThreads(number uintptr, arguments ...uintptr) error {
	var a [6]uintptr
	copy(a[:], arguments)
	_, _, errno := syscall.AllThreadsSyscall6(number, a[0], a[1], a[2], a[3], a[4], a[5])
	return orNil(errno)
}

// Capset sets the effective and permitted capabilities of every thread, and clears the inheritable ones.
func Capset(kept uint64) error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	low, high := uint32(kept), uint32(kept>>32)
	data := [2]unix.CapUserData{{Effective: low, Permitted: low}, {Effective: high, Permitted: high}}
	_, _, errno := syscall.AllThreadsSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&data)), 0)
	return orNil(errno)
}

// errDiffering means that a thread has a filter of its own, so that not every thread can have the new one.
var errDiffering = errors.New("a thread has another filter")

// Filter installs a seccomp filter on every thread, or on none: a non-empty array of struct sock_filter.
func Filter(instructions []byte) error {
	program := unix.SockFprog{
		Len:    uint16(len(instructions) / unix.SizeofSockFilter),
		Filter: (*unix.SockFilter)(unsafe.Pointer(&instructions[0])),
	}
	thread, _, errno := syscall.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&program)))
	if errno == 0 && thread != 0 {
		return errDiffering
	}
	return orNil(errno)
}

// orNil converts a zero Errno to a nil error.
func orNil(errno syscall.Errno) error {
	if errno == 0 {
		return nil
	}
	return errno
}
