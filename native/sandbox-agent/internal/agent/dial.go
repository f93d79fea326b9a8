package agent

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const (
	dialTimeout  = 5 * time.Second
	dialChunk    = 32 << 10
	maxLateInput = 30 * time.Second
)

// dialPort connects the stream to a port on the sandbox's loopback interface, which needs no network. `eof` ends one
// direction.
func dialPort(s *stream, r *request) (any, *failure) {
	if r.Port == 0 {
		return nil, fail("INVALID_PORT", "a port must be between 1 and 65535")
	}
	socket, err := dialLoopback(r.Port)
	if err != nil {
		return nil, fail("PORT_UNREACHABLE", fmt.Sprintf("port %d: %s", r.Port, err.Error()))
	}
	defer socket.Close()
	s.event(map[string]any{"type": "connected"})
	inputOver := make(chan struct{})
	go func() {
		defer close(inputOver)
		copyInput(s, &chunkWriter{file: socket})
		shutdownWrite(socket)
	}()
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-s.done:
			_ = socket.SetDeadline(time.Now())
		case <-over:
		}
	}()
	if !sendOutput(s, socket) {
		return nil, fail("ABORTED", errAborted.Error())
	}
	s.event(map[string]any{"type": "eof"})
	// The program may have closed only its sending side and still read, but it must not hold the stream forever.
	select {
	case <-inputOver:
	case <-time.After(maxLateInput):
	}
	return map[string]any{}, nil
}

// sendOutput returns false when the stream is over.
func sendOutput(s *stream, from *os.File) bool {
	buffer := make([]byte, dataHead+dialChunk)
	for {
		n, err := from.Read(buffer[dataHead:])
		if n > 0 && !s.sendData(channelStdout, buffer, n) {
			return false
		}
		if err != nil {
			return !os.IsTimeout(err)
		}
	}
}

// dialLoopback tries IPv4, then IPv6: many development servers listen on only one of them.
func dialLoopback(port uint16) (*os.File, error) {
	four := &unix.SockaddrInet4{Port: int(port), Addr: [4]byte{127, 0, 0, 1}}
	socket, err := connectTo(unix.AF_INET, four, dialTimeout)
	if err == nil {
		return socket, nil
	}
	six := &unix.SockaddrInet6{Port: int(port)}
	six.Addr[15] = 1
	if socket, otherwise := connectTo(unix.AF_INET6, six, dialTimeout); otherwise == nil {
		return socket, nil
	}
	return nil, err
}

func connectTo(family int, address unix.Sockaddr, limit time.Duration) (*os.File, error) {
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	err = unix.Connect(fd, address)
	if err == unix.EINPROGRESS {
		err = waitConnected(fd, limit)
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	return os.NewFile(uintptr(fd), "port"), nil
}

func waitConnected(fd int, limit time.Duration) error {
	poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
	for deadline := time.Now().Add(limit); ; {
		left := unix.NsecToTimespec(int64(max(time.Until(deadline), 0)))
		ready, err := unix.Ppoll(poll, &left, nil)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return err
		case ready == 0:
			return unix.ETIMEDOUT
		}
		code, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
		if err == nil && code != 0 {
			err = unix.Errno(code)
		}
		return err
	}
}

func shutdownWrite(socket *os.File) {
	raw, err := socket.SyscallConn()
	if err == nil {
		_ = raw.Control(func(fd uintptr) { _ = unix.Shutdown(int(fd), unix.SHUT_WR) })
	}
}
