// Package boot sets up the inside of a sandbox. A new process, started in its own namespaces, mounts its root, drops
// its privileges and continues as the sandbox's PID 1. It does the work of an OCI runtime without another program, for
// this one kind of sandbox.
package boot

import (
	"encoding/json"
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"svc.dev/sandbox-agent/internal/kernel"
)

// SocketFd is the socket on which the launcher sends the plan and receives the result.
const SocketFd = 4

const (
	maxPlanBytes   = 1 << 20
	maxDescriptors = 32
)

// Plan is what the launcher sends after the descriptor of the root mount.
type Plan struct {
	// Staging is a folder of the host to which the root is attached temporarily.
	Staging  string   `json:"staging"`
	Hostname string   `json:"hostname"`
	Cwd      string   `json:"cwd"`
	Env      []string `json:"env"`
	Mounts   []Mount  `json:"mounts"`
	// Volumes are the mount points of the mounts that follow the root.
	Volumes []string `json:"volumes"`
	// Root is the folder that becomes the root at the end: everything else is out of reach from then on. Empty: the root stays.
	Root         string   `json:"root"`
	Masked       []string `json:"masked"`
	ReadOnly     []string `json:"read_only"`
	Capabilities []string `json:"capabilities"`
	// Filter is an array of struct sock_filter.
	Filter []byte `json:"filter"`
}

// Mount is a new file system in the sandbox.
type Mount struct {
	Destination string   `json:"destination"`
	Type        string   `json:"type"`
	Options     []string `json:"options"`
}

// receive returns the plan and its mounts, or nil without an error if the launcher is gone.
func receive() (*Plan, []int, error) {
	one, rights := make([]byte, 1), make([]byte, unix.CmsgSpace(4*maxDescriptors))
	n, oobn, _, _, err := unix.Recvmsg(SocketFd, one, rights, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return nil, nil, err
	}
	if n == 0 {
		return nil, nil, nil
	}
	messages, err := unix.ParseSocketControlMessage(rights[:oobn])
	if err != nil || len(messages) != 1 {
		return nil, nil, errors.New("the launcher sent no root")
	}
	mounts, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(mounts) == 0 {
		return nil, nil, errors.New("the launcher sent no root")
	}
	content, err := io.ReadAll(io.LimitReader(socketReader{}, maxPlanBytes))
	if err != nil {
		return nil, nil, err
	}
	var plan Plan
	if err := json.Unmarshal(content, &plan); err != nil {
		return nil, nil, err
	}
	if len(mounts) != len(plan.Volumes)+1 {
		return nil, nil, errors.New("the launcher sent a different number of mounts than the plan names")
	}
	return &plan, mounts, nil
}

type socketReader struct{}

func (socketReader) Read(p []byte) (int, error) {
	for {
		n, err := unix.Read(SocketFd, p)
		if err == unix.EINTR {
			continue
		}
		if err == nil && n == 0 {
			return 0, io.EOF
		}
		return max(n, 0), err
	}
}

// Run sets up the sandbox and returns its plan once this process is its PID 1, with all privileges dropped; nil if it
// is not. Failures are reported to the launcher.
func Run() *Plan {
	unix.CloseOnExec(SocketFd)
	plan, mounts, err := receive()
	if plan == nil && err == nil {
		return nil
	}
	if err == nil {
		err = enter(plan, mounts)
	}
	answer := []byte("ok")
	if err != nil {
		answer = []byte(err.Error())
	}
	_, _ = unix.Write(SocketFd, answer)
	_ = unix.Close(SocketFd)
	if err != nil {
		return nil
	}
	return plan
}

func enter(p *Plan, mounts []int) error {
	// Created here rather than at the start: otherwise the parent's group would be the root of the namespace.
	if entered == 0 {
		if err := kernel.AllThreads(unix.SYS_UNSHARE, cloneNewCgroup); err != nil {
			return failed("create the cgroup namespace", err)
		}
	}
	if err := mountAll(p, mounts[0], mounts[1:]); err != nil {
		return err
	}
	if err := unix.Sethostname([]byte(p.Hostname)); err != nil {
		return failed("set the host name", err)
	}
	unix.Umask(0o022)
	if err := os.MkdirAll(p.Cwd, 0o755); err != nil {
		return failed("create the working folder", err)
	}
	if err := os.Chdir(p.Cwd); err != nil {
		return failed("enter the working folder", err)
	}
	os.Clearenv()
	for _, entry := range p.Env {
		for at := 1; at < len(entry); at++ {
			if entry[at] == '=' {
				_ = os.Setenv(entry[:at], entry[at+1:])
				break
			}
		}
	}
	if err := Restrict(p.Capabilities, p.Filter); err != nil || p.Root == "" {
		return err
	}
	return enterRoot(p.Root)
}

// enterRoot makes a folder the root, after the last use of /proc. Nothing that is open leads out of it.
func enterRoot(folder string) error {
	if err := unix.Chroot(folder); err != nil {
		return failed("enter "+folder, err)
	}
	return os.Chdir("/")
}

type stepError struct {
	step string
	err  error
}

func (e *stepError) Error() string { return e.step + ": " + e.err.Error() }

func failed(step string, err error) error { return &stepError{step, err} }
