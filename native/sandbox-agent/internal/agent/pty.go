package agent

import (
	"os"
	"strconv"
	"syscall"
	"unsafe"
)

// openPty makes a pair in the sandbox's own devpts. The master is non-blocking, so that Go's poller serves it.
func openPty(size windowSize) (master *os.File, slave *os.File, err error) {
	fd, err := syscall.Open("/dev/ptmx", syscall.O_RDWR|syscall.O_NOCTTY|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	var number, unlock uint32
	if err = ioctl(fd, syscall.TIOCSPTLCK, unsafe.Pointer(&unlock)); err == nil {
		err = ioctl(fd, syscall.TIOCGPTN, unsafe.Pointer(&number))
	}
	if err != nil {
		_ = syscall.Close(fd)
		return nil, nil, err
	}
	slaveFd, err := syscall.Open("/dev/pts/"+strconv.Itoa(int(number)), syscall.O_RDWR|syscall.O_NOCTTY|syscall.O_CLOEXEC, 0)
	if err != nil {
		_ = syscall.Close(fd)
		return nil, nil, err
	}
	_ = setWindowSize(fd, size)
	return os.NewFile(uintptr(fd), "ptmx"), os.NewFile(uintptr(slaveFd), "pts"), nil
}

func setWindowSize(fd int, size windowSize) error {
	value := struct{ rows, cols, x, y uint16 }{rows: size.Rows, cols: size.Cols}
	return ioctl(fd, syscall.TIOCSWINSZ, unsafe.Pointer(&value))
}

// foregroundGroup is the process group that a key such as ^C would reach.
func foregroundGroup(fd int) int {
	var group int32
	if ioctl(fd, syscall.TIOCGPGRP, unsafe.Pointer(&group)) != nil {
		return 0
	}
	return int(group)
}

func ioctl(fd int, request uintptr, argument unsafe.Pointer) error {
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), request, uintptr(argument))
	if errno != 0 {
		return errno
	}
	return nil
}
