package agent

import (
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"svc.dev/sandbox-agent/internal/frame"
)

const (
	terminalChunk   = 64 << 10
	plainRingBytes  = 256 << 10
	sessionRing     = 1 << 20
	maxWindowExtent = 1000
	// For what a stream sent before it ended, if the terminal does not accept it at once.
	typeGrace = 100 * time.Millisecond
)

// terminal is a process on a PTY. A pump copies its output into a ring, which any number of streams read, and each of
// them can type.
type terminal struct {
	pid    int
	path   string
	master *os.File
	ring   *ring
	exited chan struct{}
	input  chunkWriter
	typed  atomic.Bool
	mu     sync.Mutex
	result exitResult
	size   windowSize
	closed bool
}

func (a *agent) startTerminal(s *stream, r *request, spec *command) (any, *failure) {
	ringBytes := plainRingBytes
	if r.Session != "" {
		ringBytes = sessionRing
		if failed := a.reserve(r.Session); failed != nil {
			return nil, failed
		}
	}
	t, failed := a.newTerminal(spec, clamp(*r.Tty), ringBytes)
	if failed != nil {
		a.release(r.Session)
		return nil, failed
	}
	a.processes.add(&process{pid: t.pid, request: r, cwd: spec.cwd, terminal: t}, t.exited)
	killLater(t.pid, r.Timeout, t.exited)
	zero := uint64(0)
	if r.Session != "" {
		return a.keep(r, t).serve(s, &zero)
	}
	if r.Detached {
		go func() {
			<-t.exited
			t.hangUp()
		}()
		return t.serve(s, &zero)
	}
	result, failed := t.serve(s, &zero)
	t.hangUp()
	return result, failed
}

func (a *agent) newTerminal(spec *command, size windowSize, ringBytes int) (*terminal, *failure) {
	master, slave, err := openPty(size)
	if err != nil {
		return nil, fromError(err)
	}
	fd := slave.Fd()
	if spec.owner != nil {
		_ = unix.Fchown(int(fd), spec.owner.uid, spec.owner.gid) // otherwise programs cannot open it by name
	}
	pid, done, failed := a.spawn(spec, []uintptr{fd, fd, fd}, &unix.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0, Credential: spec.as})
	_ = slave.Close()
	if failed != nil {
		_ = master.Close()
		return nil, failed
	}
	t := &terminal{pid: pid, path: spec.path, master: master, ring: newRing(ringBytes), exited: make(chan struct{}), size: size}
	t.input = chunkWriter{file: master, before: func() { t.typed.Store(true) }, grace: typeGrace}
	t.ring.mark(size)
	go t.pump()
	go func() {
		t.result = resultOf(<-done)
		close(t.exited)
		// The shell's output is in the PTY already; a background job may keep the other side open forever.
		_ = master.SetReadDeadline(time.Now())
	}()
	return t, nil
}

// pump fills the ring until the shell has exited and everything it wrote was read.
func (t *terminal) pump() {
	defer t.ring.finish()
	reader := newReadyReader(t.master)
	buffer := make([]byte, terminalChunk)
	pace := &pace{typed: &t.typed}
	for {
		n, err := reader.read(buffer)
		for n > 0 && n < len(buffer) && pace.holdBack(n) {
			more := reader.readNow(buffer[n:])
			if more == 0 {
				break
			}
			n += more
		}
		pace.sent()
		if n > 0 {
			t.ring.write(buffer[:n])
		}
		if os.IsTimeout(err) {
			for n := reader.readNow(buffer); n > 0; n = reader.readNow(buffer) {
				t.ring.write(buffer[:n])
			}
			<-t.exited
			return
		}
		if err != nil {
			<-t.exited // EIO means that the last holder closed it, which may happen before the exit is collected
			return
		}
	}
}

// serve connects the stream to the terminal until the shell or the stream ends.
func (t *terminal) serve(s *stream, since *uint64) (any, *failure) {
	reader, end := t.ring.attach(since)
	s.event(map[string]any{"type": "started", "pid": t.pid, "path": t.path, "offset": reader.cursor, "end": end})
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-s.done:
		case <-over:
		}
		t.ring.detach(reader)
		t.input.wake()
	}()
	s.onControl(t.handleControl)
	go t.takeInput(s)
	buffer := make([]byte, dataHead+terminalChunk)
	for {
		n, lost := t.ring.read(reader, buffer[dataHead:])
		if lost > 0 {
			s.event(map[string]any{"type": "lagged", "bytes": lost})
			continue
		}
		if n == 0 {
			break
		}
		if !s.sendData(channelStdout, buffer, n) {
			return nil, fail("DETACHED", "the stream ended before the terminal")
		}
	}
	select {
	case <-s.done:
		return nil, fail("DETACHED", "the stream ended before the terminal")
	default:
		<-t.exited
		return t.result, nil
	}
}

// takeInput types what the stream sends until it ends, also what arrived before a reset: a client that resumes elsewhere
// does not send it again. Chunks of different streams are not interleaved.
func (t *terminal) takeInput(s *stream) {
	s.in.keep()
	for {
		payload, aborted := s.in.next()
		if payload == nil || aborted || !t.input.write(s, payload[1:]) {
			return
		}
		s.grant(len(payload))
		frame.Recycle(payload)
	}
}

func (t *terminal) handleControl(message controlMessage) {
	switch message.Type {
	case "resize":
		t.resize(clamp(windowSize{Cols: message.Cols, Rows: message.Rows}))
	case "signal":
		if signal, known := signals[message.Name]; known {
			t.signal(signal)
		}
	}
}

func (t *terminal) withMaster(use func(fd int)) {
	raw, err := t.master.SyscallConn()
	if err == nil {
		_ = raw.Control(func(fd uintptr) { use(int(fd)) })
	}
}

func (t *terminal) resize(size windowSize) {
	t.mu.Lock()
	t.size = size
	t.mu.Unlock()
	t.ring.mark(size) // recorded first, so that redrawn output follows the new size
	t.withMaster(func(fd int) { _ = setWindowSize(fd, size) })
}

func (t *terminal) signal(signal unix.Signal) {
	select {
	case <-t.exited:
		return
	default:
	}
	group := 0
	t.withMaster(func(fd int) { group = foregroundGroup(fd) })
	if group <= 1 {
		group = t.pid
	}
	_ = unix.Kill(-group, signal)
}

// hangUp closes the master, which hangs up the session, and kills a shell that does not exit.
func (t *terminal) hangUp() {
	t.mu.Lock()
	closed := t.closed
	t.closed = true
	t.mu.Unlock()
	if closed {
		return
	}
	_ = t.master.Close()
	select {
	case <-t.exited:
		return
	case <-time.After(killDelay):
		_ = unix.Kill(-t.pid, unix.SIGKILL)
	}
}

func clamp(size windowSize) windowSize {
	if size.Cols == 0 {
		size.Cols = 80
	}
	if size.Rows == 0 {
		size.Rows = 24
	}
	return windowSize{Cols: min(size.Cols, maxWindowExtent), Rows: min(size.Rows, maxWindowExtent)}
}
