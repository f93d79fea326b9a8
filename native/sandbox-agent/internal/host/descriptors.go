package host

import (
	"slices"

	"golang.org/x/sys/unix"
)

// aboveChildFiles duplicates a descriptor to a number that a fork does not overwrite in the child. Go moves the child's
// files and its own pipe to the numbers above the highest of `files` before it puts them in place
// (syscall.forkAndExecInChild1), which would overwrite other descriptors, such as the one of the program being started.
// The caller closes the duplicate after the fork.
func aboveChildFiles(fd int, files []uintptr) (int, error) {
	lowest := max(slices.Max(files), uintptr(len(files))) + uintptr(len(files)) + 2 // a copy of each file, the pipe, and one to spare
	return unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, int(lowest))
}
