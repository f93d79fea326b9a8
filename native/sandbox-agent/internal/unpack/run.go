// Package unpack turns one image layer (a tar stream on standard input) into a folder in the format of overlayfs:
// whiteouts are character devices 0:0, and opaque directories have an attribute. The stream is untrusted: the process
// first confines itself to the folder, follows no links, and enforces limits.
package unpack

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"runtime/debug"
	"strconv"

	"golang.org/x/sys/unix"
)

const memoryGoal = 64 << 20

// Report is the result, one line of JSON on standard output.
type Report struct {
	Bytes   int64 `json:"bytes"`
	Entries int64 `json:"entries"`
	// Devices that were skipped, and owners outside the sandbox's range, which became the user nobody.
	Devices  int64    `json:"devices"`
	Remapped int64    `json:"remapped"`
	Failure  *Failure `json:"error,omitempty"`
}

// Failure says what is wrong with the layer (HOSTILE, MALFORMED, TOO_LARGE) or the machine (DISK_FULL, IO_ERROR).
type Failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (f *Failure) Error() string { return f.Message }

// Run unpacks standard input into an empty folder and returns the exit code. Arguments: folder, maximum bytes of files,
// maximum number of entries.
func Run(args []string) int {
	if len(args) != 3 {
		os.Stderr.WriteString("usage: sandbox-agent unpack FOLDER MAX-BYTES MAX-ENTRIES\n")
		return 2
	}
	most := limits{}
	var wrongBytes, wrongEntries error
	most.bytes, wrongBytes = strconv.ParseInt(args[1], 10, 64)
	most.entries, wrongEntries = strconv.ParseInt(args[2], 10, 64)
	if wrongBytes != nil || wrongEntries != nil {
		return 2
	}
	endWithParent()
	debug.SetMemoryLimit(memoryGoal)
	report, err := unpackInto(args[0], os.Stdin, most)
	if err != nil {
		report.Failure = failureOf(err)
	}
	if json.NewEncoder(os.Stdout).Encode(report) != nil || err != nil {
		return 1
	}
	return 0
}

// endWithParent kills this process with the platform, which alone uses the result.
func endWithParent() {
	_ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0)
}

func unpackInto(folder string, stream io.Reader, most limits) (*Report, error) {
	report := &Report{}
	unix.Umask(0)
	if err := confine(folder); err != nil {
		return report, err
	}
	root, err := unix.Open(".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return report, err
	}
	defer unix.Close(root)
	return report, newLayer(root, most, report).unpack(stream)
}

// confine makes the folder the root of this process. Further namespaces separate it from the network and other
// resources of the machine.
func confine(folder string) error {
	if err := unix.Unshare(unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWIPC); err != nil {
		return err
	}
	if err := unix.Chdir(folder); err != nil {
		return err
	}
	if err := unix.Chroot("."); err != nil {
		return err
	}
	return unix.Chdir("/")
}

func failureOf(err error) *Failure {
	var known *Failure
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		return &Failure{"DISK_FULL", "no space left on the disk"}
	}
	return &Failure{"IO_ERROR", err.Error()}
}
