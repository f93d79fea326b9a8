package agent

import (
	"io"
	"os"
	"path/filepath"

	"svc.dev/sandbox-agent/internal/limits"
)

const programMode = 0o555

// Install atomically copies this program to the given file, after the limits of the sandbox, if there are any. An init
// container uses it to put the helper into a volume.
func Install(arguments []string) int {
	if len(arguments) != 1 && len(arguments) != 2 {
		os.Stderr.WriteString("usage: sandbox-agent install FILE [LIMITS]\n")
		return 2
	}
	target := arguments[0]
	var err error
	if len(arguments) == 2 {
		err = limits.Write(filepath.Dir(target), []byte(arguments[1]))
	}
	if err == nil {
		err = copyProgram(target)
	}
	if err != nil {
		os.Stderr.WriteString("sandbox-agent: " + err.Error() + "\n")
		return 1
	}
	return 0
}

func copyProgram(target string) error {
	source, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer source.Close()
	partial := target + ".partial"
	file, err := os.OpenFile(partial, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, programMode)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, source)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(partial, target)
	}
	if err != nil {
		_ = os.Remove(partial)
	}
	return err
}
