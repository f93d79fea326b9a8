// Package bridge carries the platform's connection into a sandbox whose engine hands over no listening socket: the engine
// starts this job inside the sandbox, and standard input and output become a connection to the helper.
package bridge

import (
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// SocketName is abstract: it lies in the sandbox's own network namespace and has no file that could be replaced.
const SocketName = "@svc-sandbox-agent"

const (
	connectLimit = 10 * time.Second
	connectPoll  = 2 * time.Millisecond
	copyBytes    = 128 << 10
)

// Listen makes the helper's socket, as the first thing that happens in a sandbox: nothing else can have the name.
func Listen() (int, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	if err = unix.Bind(fd, &unix.SockaddrUnix{Name: SocketName}); err == nil {
		err = unix.Listen(fd, 8)
	}
	if err != nil {
		_ = unix.Close(fd)
		return 0, err
	}
	return fd, nil
}

// FromOutside says whether the other end was put into the sandbox by the engine: its parent is in no namespace of ours, so
// it reads as 0. Everything that was started inside has a parent inside.
func FromOutside(fd int) bool {
	peer, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil || peer.Uid != 0 {
		return false
	}
	// gVisor answers with who asks, whoever the peer is (its issue 173), so nobody can be told from another there: what is
	// inside may take the platform's place, which gives it nothing that it has not. We never connect to ourselves.
	if int(peer.Pid) == os.Getpid() {
		return true
	}
	content, err := os.ReadFile("/proc/" + strconv.Itoa(int(peer.Pid)) + "/stat")
	if err != nil {
		return false
	}
	// The name, in parentheses, may itself hold anything.
	after := string(content[strings.LastIndexByte(string(content), ')')+1:])
	fields := strings.Fields(after)
	return len(fields) > 1 && fields[1] == "0"
}

// Run connects and copies until either side ends.
func Run() int {
	runtime.GOMAXPROCS(1) // threads count against the sandbox's limit
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	fd, err := connect()
	if err != nil {
		os.Stderr.WriteString("sandbox-agent: " + err.Error() + "\n")
		return 1
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		return 1
	}
	socket := os.NewFile(uintptr(fd), "helper")
	go func() {
		_, _ = io.CopyBuffer(onlyWriter{socket}, onlyReader{os.Stdin}, make([]byte, copyBytes))
		os.Exit(0) // the platform let go
	}()
	_, _ = io.CopyBuffer(onlyWriter{os.Stdout}, onlyReader{socket}, make([]byte, copyBytes))
	return 0
}

// Without these io.Copy would take paths through splice, which gain nothing here and need a pipe each.
type onlyReader struct{ io.Reader }
type onlyWriter struct{ io.Writer }

// connect waits for a helper that is still starting.
func connect() (int, error) {
	for deadline := time.Now().Add(connectLimit); ; time.Sleep(connectPoll) {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return 0, err
		}
		err = unix.Connect(fd, &unix.SockaddrUnix{Name: SocketName})
		if err == nil {
			return fd, nil
		}
		_ = unix.Close(fd)
		if err != unix.ECONNREFUSED || time.Now().After(deadline) {
			return 0, err
		}
	}
}
