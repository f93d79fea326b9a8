// Package fsat reaches files below an open folder, step by step and without following a link: whatever somebody else does
// to the names meanwhile, the work stays below that folder.
package fsat

import (
	"syscall"
	"time"
	"unsafe"
)

const (
	symlinkNofollow = 0x100
	// RemoveFolder lets Unlink take away an empty folder (AT_REMOVEDIR).
	RemoveFolder = 0x200
	utimeOmit    = (1 << 30) - 2
)

// Remove takes away what the name stands for, a folder with all that is in it.
func Remove(parent int, name string) error {
	err := Unlink(parent, name, 0)
	if err != syscall.EISDIR && err != syscall.EPERM {
		return err
	}
	fd, err := OpenFolder(parent, name)
	if err != nil {
		return err
	}
	names, err := Names(fd)
	for _, each := range names {
		if err == nil {
			err = Remove(fd, each)
		}
	}
	_ = syscall.Close(fd)
	if err != nil {
		return err
	}
	return Unlink(parent, name, RemoveFolder)
}

// Names lists an open folder.
func Names(fd int) ([]string, error) {
	names := []string{}
	buffer := make([]byte, 64<<10)
	for {
		count, err := syscall.ReadDirent(fd, buffer)
		if err != nil || count <= 0 {
			return names, err
		}
		_, _, names = syscall.ParseDirent(buffer[:count], -1, names)
	}
}

// OpenFolder opens a folder of an open folder; a link is refused.
func OpenFolder(at int, name string) (int, error) {
	return syscall.Openat(at, name, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
}

// Lstat is of the name itself, not of what a link leads to.
func Lstat(at int, name string) (*syscall.Stat_t, error) {
	pointer, err := syscall.BytePtrFromString(name)
	if err != nil {
		return nil, err
	}
	stat := &syscall.Stat_t{}
	_, _, errno := syscall.Syscall6(sysFstatat, uintptr(at), uintptr(unsafe.Pointer(pointer)),
		uintptr(unsafe.Pointer(stat)), symlinkNofollow, 0, 0)
	if errno != 0 {
		return nil, errno
	}
	return stat, nil
}

// Unlink is unlinkat(2).
func Unlink(at int, name string, flags int) error {
	pointer, err := syscall.BytePtrFromString(name)
	if err != nil {
		return err
	}
	return Result(syscall.Syscall(syscall.SYS_UNLINKAT, uintptr(at), uintptr(unsafe.Pointer(pointer)), uintptr(flags)))
}

// Symlink is symlinkat(2).
func Symlink(target string, at int, name string) error {
	from, err := syscall.BytePtrFromString(target)
	if err != nil {
		return err
	}
	to, err := syscall.BytePtrFromString(name)
	if err != nil {
		return err
	}
	return Result(syscall.Syscall(syscall.SYS_SYMLINKAT, uintptr(unsafe.Pointer(from)), uintptr(at), uintptr(unsafe.Pointer(to))))
}

// Link is linkat(2); a link as the source is itself what gets another name.
func Link(from int, fromName string, to int, toName string) error {
	source, err := syscall.BytePtrFromString(fromName)
	if err != nil {
		return err
	}
	target, err := syscall.BytePtrFromString(toName)
	if err != nil {
		return err
	}
	return Result(syscall.Syscall6(syscall.SYS_LINKAT, uintptr(from), uintptr(unsafe.Pointer(source)), uintptr(to),
		uintptr(unsafe.Pointer(target)), 0, 0))
}

func SetTime(at int, name string, modified time.Time) {
	pointer, err := syscall.BytePtrFromString(name)
	if err != nil {
		return
	}
	times := [2]syscall.Timespec{{Nsec: utimeOmit}, {Sec: modified.Unix(), Nsec: int64(modified.Nanosecond())}}
	_, _, _ = syscall.Syscall6(syscall.SYS_UTIMENSAT, uintptr(at), uintptr(unsafe.Pointer(pointer)),
		uintptr(unsafe.Pointer(&times)), symlinkNofollow, 0, 0)
}

// Result is what a system call answered, as an error or none.
func Result(_, _ uintptr, errno syscall.Errno) error {
	if errno != 0 {
		return errno
	}
	return nil
}

// Rename is renameat(2): what stood under the new name is replaced, a folder only by a folder and when it is empty.
func Rename(from int, fromName string, to int, toName string) error {
	source, err := syscall.BytePtrFromString(fromName)
	if err != nil {
		return err
	}
	target, err := syscall.BytePtrFromString(toName)
	if err != nil {
		return err
	}
	return Result(syscall.Syscall6(sysRenameat2, uintptr(from), uintptr(unsafe.Pointer(source)), uintptr(to),
		uintptr(unsafe.Pointer(target)), 0, 0))
}

// ReadLink is readlinkat(2).
func ReadLink(at int, name string) (string, error) {
	pointer, err := syscall.BytePtrFromString(name)
	if err != nil {
		return "", err
	}
	buffer := make([]byte, 4096)
	count, _, errno := syscall.Syscall6(syscall.SYS_READLINKAT, uintptr(at), uintptr(unsafe.Pointer(pointer)),
		uintptr(unsafe.Pointer(&buffer[0])), uintptr(len(buffer)), 0, 0)
	if errno != 0 {
		return "", errno
	}
	return string(buffer[:count]), nil
}
