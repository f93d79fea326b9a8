package agent

import (
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// piped is a process without a terminal. Its stdout and stderr go to every listening stream, in order of arrival.
// Without a listener, output is dropped, so a detached process never blocks on a reader.
type piped struct {
	pid       int
	path      string
	stdin     *os.File
	stdout    *os.File
	stderr    *os.File
	input     chunkWriter
	exited    chan struct{}
	finished  chan struct{}
	result    exitResult
	mu        sync.Mutex
	listeners []*listener
}

// listener is a stream that receives the output.
type listener struct {
	stream *stream
	// sending is held while a frame is sent, so that no frame follows the stream's end.
	sending sync.Mutex
	left    bool
}

func (l *listener) send(channel byte, buffer []byte, n int) {
	l.sending.Lock()
	defer l.sending.Unlock()
	if !l.left {
		l.stream.sendData(channel, buffer, n)
	}
}

// startPiped starts the process with `first` as its first listener, which receives all output from the call to `run`
// on.
func (a *agent) startPiped(first *stream, spec *command) (*piped, <-chan unix.WaitStatus, *failure) {
	stdin, stdinChild, err := pipe(true)
	if err != nil {
		return nil, nil, fromError(err)
	}
	stdout, stdoutChild, err := pipe(false)
	if err != nil {
		closeAll(stdin, stdinChild)
		return nil, nil, fromError(err)
	}
	stderr, stderrChild, err := pipe(false)
	if err != nil {
		closeAll(stdin, stdinChild, stdout, stdoutChild)
		return nil, nil, fromError(err)
	}
	pid, done, failed := a.spawn(spec, []uintptr{stdinChild.Fd(), stdoutChild.Fd(), stderrChild.Fd()}, &unix.SysProcAttr{Setsid: true, Credential: spec.as})
	closeAll(stdinChild, stdoutChild, stderrChild)
	if failed != nil {
		closeAll(stdin, stdout, stderr)
		return nil, nil, failed
	}
	p := &piped{pid: pid, path: spec.path, stdin: stdin, stdout: stdout, stderr: stderr, exited: make(chan struct{}),
		finished: make(chan struct{}), listeners: []*listener{{stream: first}}}
	p.input.file = stdin
	return p, done, nil
}

func closeAll(files ...*os.File) {
	for _, file := range files {
		_ = file.Close()
	}
}

// run forwards output until the process has exited and everything it wrote was read.
func (p *piped) run(done <-chan unix.WaitStatus) {
	pumped := make(chan struct{}, 2)
	go func() { p.pump(channelStdout, p.stdout); pumped <- struct{}{} }()
	go func() { p.pump(channelStderr, p.stderr); pumped <- struct{}{} }()
	p.result = resultOf(<-done)
	close(p.exited)
	_ = p.stdin.Close()
	// The command's output is in the pipes already; a background child may keep them open forever.
	_ = p.stdout.SetReadDeadline(time.Now())
	_ = p.stderr.SetReadDeadline(time.Now())
	<-pumped
	<-pumped
	closeAll(p.stdout, p.stderr)
	close(p.finished)
}

func (p *piped) pump(channel byte, from *os.File) {
	buffer := make([]byte, dataHead+pipeChunk)
	for {
		n, err := from.Read(buffer[dataHead:])
		if n > 0 {
			p.send(channel, buffer, n)
		}
		if os.IsTimeout(err) {
			for n := readNow(from, buffer[dataHead:]); n > 0; n = readNow(from, buffer[dataHead:]) {
				p.send(channel, buffer, n)
			}
			return
		}
		if err != nil {
			return
		}
	}
}

// send waits for credit from every listener, so the slowest one blocks the process until it leaves.
func (p *piped) send(channel byte, buffer []byte, n int) {
	p.mu.Lock()
	listeners := p.listeners
	p.mu.Unlock()
	for _, each := range listeners {
		each.send(channel, buffer, n)
	}
}

// listen adds a stream, which receives output from now on.
func (p *piped) listen(s *stream) {
	p.mu.Lock()
	p.listeners = append(p.listeners[:len(p.listeners):len(p.listeners)], &listener{stream: s})
	p.mu.Unlock()
}

// leave returns once no send uses the stream. The stream is over, so no send waits for its credit.
func (p *piped) leave(s *stream) {
	p.mu.Lock()
	left := make([]*listener, 0, len(p.listeners))
	var leaving []*listener
	for _, each := range p.listeners {
		if each.stream == s {
			leaving = append(leaving, each)
		} else {
			left = append(left, each)
		}
	}
	p.listeners = left
	p.mu.Unlock()
	for _, each := range leaving {
		each.sending.Lock()
		each.left = true
		each.sending.Unlock()
	}
}

// serve returns the result after the stream received all output, or DETACHED if the stream ends first.
func (p *piped) serve(s *stream) (any, *failure) {
	defer p.leave(s)
	s.onControl(p.handleControl)
	select {
	case <-p.finished:
		return p.result, nil
	case <-s.done:
		return nil, fail("DETACHED", "the stream ended before the process")
	}
}

func (p *piped) handleControl(message controlMessage) {
	if signal, known := signals[message.Name]; known && message.Type == "signal" {
		p.signal(signal)
	}
}

func (p *piped) signal(signal unix.Signal) {
	select {
	case <-p.exited:
	default:
		_ = unix.Kill(-p.pid, signal)
	}
}

// killOnAbort ends the command's process group when its stream ends before the command. What a command leaves in the
// background stays.
func (p *piped) killOnAbort(s *stream) {
	select {
	case <-p.exited:
		return
	case <-s.done:
	}
	select {
	case <-p.exited: // both have ended by now, as after a short command
		return
	default:
	}
	_ = unix.Kill(-p.pid, unix.SIGTERM)
	select {
	case <-p.exited:
	case <-time.After(killDelay):
		_ = unix.Kill(-p.pid, unix.SIGKILL)
	}
}

// chunkWriter lets several streams write to one file, each chunk without interleaving.
type chunkWriter struct {
	file *os.File
	mu   sync.Mutex
	// before runs before each write; may be nil.
	before func()
	// grace is the time for a chunk whose stream has ended; without one, it is dropped.
	grace time.Duration
}

// write returns false if the stream ended or the file accepts no more. After ending a stream, call `wake` to interrupt
// its blocked write.
func (w *chunkWriter) write(s *stream, chunk []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(chunk) > 0 {
		// The deadline is reset before `done` is checked: a stream that ends closes `done` before it sets its own
		// deadline.
		_ = w.file.SetWriteDeadline(time.Time{})
		select {
		case <-s.done:
			return w.writeRest(chunk)
		default:
		}
		if w.before != nil {
			w.before()
		}
		n, err := w.file.Write(chunk)
		chunk = chunk[n:]
		if err != nil && !os.IsTimeout(err) {
			return false
		}
	}
	return true
}

// writeRest is called with the lock.
func (w *chunkWriter) writeRest(chunk []byte) bool {
	if w.grace == 0 {
		return false
	}
	if w.before != nil {
		w.before()
	}
	_ = w.file.SetWriteDeadline(time.Now().Add(w.grace))
	_, err := w.file.Write(chunk)
	return err == nil
}

// wake interrupts a blocked write. Writes of other streams continue.
func (w *chunkWriter) wake() { _ = w.file.SetWriteDeadline(time.Now()) }
