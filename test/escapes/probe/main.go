// Command probe tries one hostile thing and says how that went: `probe NAME [ARGUMENT...]` prints `done` or `refused` with a
// reason. It does no harm where it succeeds: it opens without writing, calls with arguments that change nothing, or cleans up.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sort"
	"syscall"
)

// An attack answers nil when it succeeded.
type attack func(arguments []string) error

func main() {
	runtime.LockOSThread()
	table := map[string]attack{}
	for _, part := range []map[string]attack{kernelAttacks, pathAttacks, processAttacks, networkAttacks, resourceAttacks, foreignAttacks, userAttacks} {
		for name, each := range part {
			table[name] = each
		}
	}
	if len(os.Args) < 2 || table[os.Args[1]] == nil {
		names := make([]string, 0, len(table))
		for name := range table {
			names = append(names, name)
		}
		sort.Strings(names)
		fmt.Fprintln(os.Stderr, "usage: probe NAME [ARGUMENT...]; names:", names)
		os.Exit(2)
	}
	if err := table[os.Args[1]](os.Args[2:]); err != nil {
		fmt.Println("refused:", err)
		os.Exit(1)
	}
	fmt.Println("done")
}

// reached answers nil unless the kernel, or a filter before it, said that this is not permitted: an attack that is let
// through to the point where its arguments are found wanting has succeeded.
func reached(errno syscall.Errno) error {
	if errno == syscall.EPERM || errno == syscall.EACCES {
		return errno
	}
	return nil
}

// anyOf answers nil when one of them succeeded.
func anyOf(attempts ...error) error {
	for _, err := range attempts {
		if err == nil {
			return nil
		}
	}
	return errors.Join(attempts...)
}

func opens(path string, flags int) error {
	fd, err := syscall.Open(path, flags|syscall.O_CLOEXEC|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return syscall.Close(fd)
}
