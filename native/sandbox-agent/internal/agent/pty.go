package agent

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// openPty opens a pair in the sandbox's own devpts. The master is non-blocking, so that Go's poller serves it.
func openPty(size windowSize) (master *os.File, slave *os.File, err error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	number := 0
	if err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err == nil {
		number, err = unix.IoctlGetInt(fd, unix.TIOCGPTN)
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, nil, err
	}
	slaveFd, err := unix.Open("/dev/pts/"+strconv.Itoa(number), unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		_ = unix.Close(fd)
		return nil, nil, err
	}
	_ = setWindowSize(fd, size)
	return os.NewFile(uintptr(fd), "ptmx"), os.NewFile(uintptr(slaveFd), "pts"), nil
}

func setWindowSize(fd int, size windowSize) error {
	return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: size.Rows, Col: size.Cols})
}

// foregroundGroup returns the process group that a key such as ^C would reach.
func foregroundGroup(fd int) int {
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	if err != nil {
		return 0
	}
	return group
}
