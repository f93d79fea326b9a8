// Package kernel has what golang.org/x/sys/unix lacks, and with it the only unsafe code of this program. x/sys/unix sets
// capabilities and filters for the calling thread only, but a Go program has several threads from its first line on, and a
// thread that kept something would hand it on to what it starts.
package kernel

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// Ext4Checkpoint is EXT4_IOC_CHECKPOINT of Linux 5.14, which empties the journal.
	Ext4Checkpoint = 0x4004662B
	// ext4Resize is EXT4_IOC_RESIZE_FS.
	ext4Resize = 0x40086610
	// NoSetuidFixup is SECBIT_NO_SETUID_FIXUP: a change of the user keeps the capabilities.
	NoSetuidFixup = 1 << 2
	// VethInfoPeer is VETH_INFO_PEER: the attribute with the other end of a network pair.
	VethInfoPeer = 1
)

// ResizeExt4 makes the mounted file system of an open folder as large as this many blocks of it.
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

// Capset limits every thread to these effective and permitted capabilities and leaves none to inherit.
func Capset(kept uint64) error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	low, high := uint32(kept), uint32(kept>>32)
	data := [2]unix.CapUserData{{Effective: low, Permitted: low}, {Effective: high, Permitted: high}}
	_, _, errno := syscall.AllThreadsSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&data)), 0)
	return orNil(errno)
}

// Filter puts every thread under a filter of system calls: an array of struct sock_filter, not empty.
func Filter(instructions []byte) error {
	program := unix.SockFprog{
		Len:    uint16(len(instructions) / unix.SizeofSockFilter),
		Filter: (*unix.SockFilter)(unsafe.Pointer(&instructions[0])),
	}
	_, _, errno := syscall.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&program)))
	return orNil(errno)
}

// orNil keeps a zero Errno from becoming an error that is not nil.
func orNil(errno syscall.Errno) error {
	if errno == 0 {
		return nil
	}
	return errno
}
