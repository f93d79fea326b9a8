package host

import (
	"errors"
	"io"
	"os"
	"strconv"
	"syscall"
	"unsafe"
)

const (
	loopCtlGetFree    = 0x4C82
	loopConfigure     = 0x4C0A
	loopClear         = 0x4C01
	loopFlagAutoclear = 4
	loopAttempts      = 64
	seekData          = 3
	seekHole          = 4
)

// loopConfig is struct loop_config of linux/loop.h.
type loopConfig struct {
	fd        uint32
	blockSize uint32
	info      loopInfo64
	_         [8]uint64
}

type loopInfo64 struct {
	device, inode, rdevice, offset, sizelimit  uint64
	number, encryptType, encryptKeySize, flags uint32
	fileName, cryptName                        [64]byte
	encryptKey                                 [32]byte
	init                                       [2]uint64
}

// attachDisk makes a block device of the file. Autoclear: it is gone when the last mount of it is.
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
		number, _, errno := syscall.Syscall(syscall.SYS_IOCTL, control.Fd(), loopCtlGetFree, 0)
		if errno != 0 {
			return "", nil, rootfsStep("find a loop device", errno)
		}
		name := "/dev/loop" + strconv.Itoa(int(number))
		device, err := openLoop(name, int(number))
		if err != nil {
			return "", nil, rootfsStep("open "+name, err)
		}
		config := loopConfig{fd: uint32(backing.Fd()), blockSize: 4096}
		config.info.flags = loopFlagAutoclear
		copy(config.info.fileName[:63], file)
		_, _, errno = syscall.Syscall(syscall.SYS_IOCTL, device.Fd(), loopConfigure, uintptr(unsafe.Pointer(&config)))
		if errno == 0 {
			return name, device, nil
		}
		_ = device.Close()
		if errno != syscall.EBUSY { // EBUSY: another start took this number first
			return "", nil, rootfsStep("attach the disk", errno)
		}
	}
	return "", nil, rootfsStep("attach the disk", syscall.EBUSY)
}

// openLoop makes the node where no udev does.
func openLoop(name string, number int) (*os.File, error) {
	device, err := os.OpenFile(name, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		if err = syscall.Mknod(name, syscall.S_IFBLK|0o600, 7<<8|number&0xff|(number&^0xff)<<12); err == nil || errors.Is(err, os.ErrExist) {
			device, err = os.OpenFile(name, os.O_RDWR, 0)
		}
	}
	return device, err
}

// copyDisk makes a sandbox's disk from the formatted template, data only, and puts it in place at once.
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

// sharesBlocks lets the file system answer for both files with the same blocks, where it can (XFS, Btrfs).
func sharesBlocks(from, to *os.File) bool {
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, to.Fd(), ficlone, from.Fd())
	return errno == 0
}

func copyExtents(from, to *os.File, size int64) error {
	for offset := int64(0); offset < size; {
		data, err := syscall.Seek(int(from.Fd()), offset, seekData)
		if err == syscall.ENXIO {
			return nil
		}
		if err != nil {
			return err
		}
		hole, err := syscall.Seek(int(from.Fd()), data, seekHole)
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
