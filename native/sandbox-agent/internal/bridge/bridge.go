// Package bridge carries the platform's connection into a sandbox whose engine cannot pass a listening socket. The
// engine starts this job inside the sandbox, and standard input and output become a connection to the helper.
package bridge

import (
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"svc.dev/sandbox-agent/internal/limits"
)

// SocketName is abstract: it belongs to the sandbox's own network namespace and has no file that could be replaced.
const SocketName = "@svc-sandbox-agent"

const (
	connectLimit = 10 * time.Second
	connectPoll  = 2 * time.Millisecond
	copyBytes    = 128 << 10
)

// Listen binds the helper's socket before anything else runs in the sandbox, so that no other process can take the
// name.
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

// FromOutside reports whether the engine started the peer: its parent is outside the sandbox's PID namespace and
// therefore reads as 0. Processes started inside have a parent inside.
func FromOutside(fd int) bool {
	peer, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil || peer.Uid != 0 {
		return false
	}
	// gVisor returns the caller's own PID for every peer (its issue 173), so peers cannot be told apart there: a
	// process in the sandbox can take the platform's place, which gives it no further rights. The helper never connects
	// to itself.
	if int(peer.Pid) == os.Getpid() {
		return true
	}
	content, err := os.ReadFile("/proc/" + strconv.Itoa(int(peer.Pid)) + "/stat")
	if err != nil {
		return false
	}
	// The name in parentheses may contain anything.
	after := string(content[strings.LastIndexByte(string(content), ')')+1:])
	fields := strings.Fields(after)
	return len(fields) > 1 && fields[1] == "0"
}

// Run connects and copies in both directions until either side ends.
func Run() int {
	runtime.GOMAXPROCS(1) // threads count toward the sandbox's limit
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	if err := limits.Apply(false); err != nil {
		os.Stderr.WriteString("sandbox-agent: the limits of the sandbox: " + err.Error() + "\n")
		return 1
	}
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
		os.Exit(0) // the platform closed its end
	}()
	_, _ = io.CopyBuffer(onlyWriter{os.Stdout}, onlyReader{socket}, make([]byte, copyBytes))
	return 0
}

// Hides the methods with which io.Copy would use splice(2), which gains nothing here and needs a pipe for each
// direction.
type onlyReader struct{ io.Reader }
type onlyWriter struct{ io.Writer }

// connect retries while the helper is starting.
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
