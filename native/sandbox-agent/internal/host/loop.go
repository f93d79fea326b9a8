package host

import (
	"errors"
	"io"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

const (
	loopAttempts = 64
	loopMajor    = 7
)

// attachDisk attaches the file to a loop device, which is detached with its last mount (autoclear).
func attachDisk(file string) (string, *os.File, error) {
	backing, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return "", nil, rootfsStep("open the disk", err)
	}
	defer backing.Close()
	control, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		return "", nil, rootfsStep("open loop-control", err)
	}
	defer control.Close()
	for range loopAttempts {
		number, err := unix.IoctlRetInt(int(control.Fd()), unix.LOOP_CTL_GET_FREE)
		if err != nil {
			return "", nil, rootfsStep("find a loop device", err)
		}
		name := "/dev/loop" + strconv.Itoa(number)
		device, err := openLoop(name, number)
		if err != nil {
			return "", nil, rootfsStep("open "+name, err)
		}
		config := unix.LoopConfig{Fd: uint32(backing.Fd()), Size: 4096} // block_size in linux/loop.h
		config.Info.Flags = unix.LO_FLAGS_AUTOCLEAR
		copy(config.Info.File_name[:63], file)
		if err = unix.IoctlLoopConfigure(int(device.Fd()), &config); err == nil {
			return name, device, nil
		}
		_ = device.Close()
		if err != unix.EBUSY { // EBUSY: another start took this device first
			return "", nil, rootfsStep("attach the disk", err)
		}
	}
	return "", nil, rootfsStep("attach the disk", unix.EBUSY)
}

// openLoop creates the device node where udev does not.
func openLoop(name string, number int) (*os.File, error) {
	device, err := os.OpenFile(name, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		if err = unix.Mknod(name, unix.S_IFBLK|0o600, int(unix.Mkdev(loopMajor, uint32(number)))); err == nil || errors.Is(err, os.ErrExist) {
			device, err = os.OpenFile(name, os.O_RDWR, 0)
		}
	}
	return device, err
}

// copyDisk copies the data blocks of a disk only, and renames the copy into place.
func copyDisk(template, target string) error {
	from, err := os.Open(template)
	if err != nil {
		return err
	}
	defer from.Close()
	stat, err := from.Stat()
	if err != nil {
		return err
	}
	temporary := target + ".new"
	to, err := os.OpenFile(temporary, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer to.Close()
	if err = to.Truncate(stat.Size()); err == nil && !sharesBlocks(from, to) {
		err = copyExtents(from, to, stat.Size())
	}
	if err == nil {
		err = os.Rename(temporary, target)
	}
	if err != nil {
		_ = os.Remove(temporary)
	}
	return err
}

// sharesBlocks makes both files share their blocks if the file system supports it (XFS, Btrfs).
func sharesBlocks(from, to *os.File) bool {
	return unix.IoctlFileClone(int(to.Fd()), int(from.Fd())) == nil
}

func copyExtents(from, to *os.File, size int64) error {
	for offset := int64(0); offset < size; {
		data, err := unix.Seek(int(from.Fd()), offset, unix.SEEK_DATA)
		if err == unix.ENXIO {
			return nil
		}
		if err != nil {
			return err
		}
		hole, err := unix.Seek(int(from.Fd()), data, unix.SEEK_HOLE)
		if err != nil {
			return err
		}
		if _, err = to.Seek(data, io.SeekStart); err != nil {
			return err
		}
		if _, err = from.Seek(data, io.SeekStart); err != nil {
			return err
		}
		if _, err = io.CopyN(to, from, hole-data); err != nil {
			return err
		}
		offset = hole
	}
	return nil
}
