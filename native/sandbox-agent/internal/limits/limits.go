// Package limits restricts the processes of a sandbox whose engine allows them more than the platform does. The limits
// are a file beside the program, in a volume that the sandbox cannot write: the helper and every program that the
// engine starts there apply them first, and everything inside inherits them from the helper.
//
// The engine gives its programs one capability more than the limits leave. Until such a program has applied them, it
// therefore has more than any process inside, so that none of those can trace it and act without the filter.
package limits

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"svc.dev/sandbox-agent/internal/boot"
	"svc.dev/sandbox-agent/internal/seccomp"
)

const (
	fileName = "limits"
	fileMode = 0o444
	// maxBytes is above what any accepted filter takes.
	maxBytes = 1 << 20
)

// wanted is what the platform asks for: capabilities to keep, and the `linux.seccomp` part of an OCI configuration.
type wanted struct {
	Capabilities []string        `json:"capabilities"`
	Seccomp      json.RawMessage `json:"seccomp"`
}

// limits is the content of the file. Filter is an array of struct sock_filter.
type limits struct {
	Capabilities []string `json:"capabilities"`
	Filter       []byte   `json:"filter"`
}

// Write compiles limits and puts them into the folder of the program.
func Write(folder string, config []byte) error {
	var asked wanted
	if err := json.Unmarshal(config, &asked); err != nil {
		return err
	}
	filter, err := seccomp.Compile(asked.Seccomp)
	if err != nil {
		return err
	}
	content, err := json.Marshal(limits{asked.Capabilities, filter})
	if err != nil {
		return err
	}
	target := filepath.Join(folder, fileName)
	if err := os.WriteFile(target+".partial", content, fileMode); err != nil {
		return err
	}
	return os.Rename(target+".partial", target)
}

// Apply restricts every thread of this process by the file beside its program. Without one, it fails if limits are
// `required`, and does nothing otherwise.
func Apply(required bool) error {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return err
	}
	given, err := read(filepath.Join(filepath.Dir(program), fileName))
	if errors.Is(err, fs.ErrNotExist) && !required {
		return nil
	}
	if err != nil {
		return err
	}
	return boot.Restrict(given.Capabilities, given.Filter)
}

func read(path string) (*limits, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(content) > maxBytes {
		return nil, errors.New("the limits are too long")
	}
	var given limits
	if err := json.Unmarshal(content, &given); err != nil {
		return nil, err
	}
	return &given, nil
}
