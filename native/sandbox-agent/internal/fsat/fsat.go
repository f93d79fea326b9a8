// Package fsat accesses files below an open folder, step by step and without following links, so that concurrent
// changes of names cannot lead out of that folder.
package fsat

import (
	"time"

	"golang.org/x/sys/unix"
)

// Remove removes the named file, or the folder with all its contents.
func Remove(parent int, name string) error {
	err := unix.Unlinkat(parent, name, 0)
	if err != unix.EISDIR && err != unix.EPERM {
		return err
	}
	if err := Empty(parent, name); err != nil {
		return err
	}
	return unix.Unlinkat(parent, name, unix.AT_REMOVEDIR)
}

// Empty removes all contents of the named folder.
func Empty(parent int, name string) error {
	fd, err := OpenFolder(parent, name)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	names, err := Names(fd)
	for _, each := range names {
		if err == nil {
			err = Remove(fd, each)
		}
	}
	return err
}

// Names returns the names in an open folder.
func Names(fd int) ([]string, error) {
	names := []string{}
	buffer := make([]byte, 64<<10)
	for {
		count, err := unix.ReadDirent(fd, buffer)
		if err != nil || count <= 0 {
			return names, err
		}
		_, _, names = unix.ParseDirent(buffer[:count], -1, names)
	}
}

// OpenFolder opens a folder in an open folder and rejects links.
func OpenFolder(at int, name string) (int, error) {
	return unix.Openat(at, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
}

// Lstat does not follow a link.
func Lstat(at int, name string) (*unix.Stat_t, error) {
	stat := &unix.Stat_t{}
	if err := unix.Fstatat(at, name, stat, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return nil, err
	}
	return stat, nil
}

// SetTime sets the modification time and keeps the access time.
func SetTime(at int, name string, modified time.Time) {
	times := []unix.Timespec{{Nsec: unix.UTIME_OMIT}, {Sec: modified.Unix(), Nsec: int64(modified.Nanosecond())}}
	_ = unix.UtimesNanoAt(at, name, times, unix.AT_SYMLINK_NOFOLLOW)
}

// ReadLink reads at most 4 KiB, the longest target that Linux allows.
func ReadLink(at int, name string) (string, error) {
	buffer := make([]byte, unix.PathMax)
	count, err := unix.Readlinkat(at, name, buffer)
	if err != nil {
		return "", err
	}
	return string(buffer[:count]), nil
}
