package host

import (
	"os"

	"golang.org/x/sys/unix"

	"svc.dev/sandbox-agent/internal/pack"
)

// Layer is a separate job: it writes the changes on the disk of a stopped sandbox to standard output. Its detached
// mount ends with the process.
func Layer(args []string) int {
	if len(args) != 1 {
		os.Stderr.WriteString("usage: sandbox-agent layer DISK\n")
		return 2
	}
	_ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0) // nothing reads the output of an orphan
	if err := writeLayer(args[0]); err != nil {
		os.Stderr.WriteString("sandbox-agent: layer: " + err.Error() + "\n")
		return 1
	}
	return 0
}

func writeLayer(disk string) error {
	device, handle, err := attachDisk(disk)
	if err != nil {
		return err
	}
	mount, err := mountDetached(device)
	_ = handle.Close()
	if err != nil {
		return err
	}
	defer unix.Close(mount)
	return pack.Layer(descriptorPath(mount)+"/upper", os.Stdout)
}
