package host

import (
	"slices"

	"golang.org/x/sys/unix"
)

// aboveChildFiles copies a descriptor to a number that a fork of ours leaves alone in the child. Go moves what the child
// inherits, and its own pipe, to the numbers right above the highest of `files` before it puts them in their places
// (syscall.forkAndExecInChild1): whatever else is there, such as the program that is just being started by its descriptor,
// would be lost. The copy is closed by whoever asked for it, after the fork.
func aboveChildFiles(fd int, files []uintptr) (int, error) {
	lowest := max(slices.Max(files), uintptr(len(files))) + uintptr(len(files)) + 2 // each file once more, the pipe, and one
	return unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, int(lowest))
}
