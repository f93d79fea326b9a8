package agent

import (
	"encoding/binary"
	"encoding/json"
	"sync"

	"svc.dev/sandbox-agent/internal/frame"
)

// dataHead is the offset of a data frame's payload in its buffer, after the header and the channel byte.
const dataHead = frame.HeaderBytes + 1

const (
	maxEarlyControls = 64
	grantStep        = frame.TransferWindowBytes / 8
)

const (
	channelStdin  byte = 0
	channelStdout byte = 1
	channelStderr byte = 2
)

// stream is one operation of the platform. It ends when its handler returns. `done` is closed earlier if the platform
// resets the stream or the connection is lost.
type stream struct {
	id    uint32
	conn  *conn
	in    *inbox
	out   *window
	done  chan struct{}
	once  sync.Once
	mu    sync.Mutex
	apply func(controlMessage)
	early []controlMessage
	// ungranted counts bytes that a transfer has consumed without granting credit for them.
	ungranted int
	// sending is held while a frame is sent, so that no frame follows the stream's end.
	sending sync.Mutex
	ended   bool
}

func newStream(c *conn, id uint32) *stream {
	return &stream{id: id, conn: c, in: newInbox(), out: newWindow(), done: make(chan struct{})}
}

func (s *stream) abort() {
	s.once.Do(func() {
		close(s.done)
		s.in.close()
		s.out.close()
	})
}

// sendData takes a buffer whose payload starts at dataHead, waits for credit and sends it in one write. It returns
// false if the stream is over.
func (s *stream) sendData(channel byte, buffer []byte, payloadBytes int) bool {
	if !s.out.take(payloadBytes + 1) {
		return false
	}
	frame.PutHeader(buffer, frame.Data, s.id, payloadBytes+1)
	buffer[frame.HeaderBytes] = channel
	return s.conn.write(buffer[:dataHead+payloadBytes]) == nil
}

func (s *stream) event(value any) { s.conn.sendJSON(frame.Control, s.id, value) }

// grant reports consumed payload bytes to the platform. Input may be consumed after the operation has ended.
func (s *stream) grant(bytes int) {
	var payload [4]byte
	binary.BigEndian.PutUint32(payload[:], uint32(bytes))
	s.sending.Lock()
	defer s.sending.Unlock()
	if !s.ended {
		_ = s.conn.send(frame.Credit, s.id, payload[:])
	}
}

// transfer widens the window of a stream that receives a whole file. It is called before anything is consumed.
func (s *stream) transfer() {
	s.in.widen(frame.TransferWindowBytes - frame.WindowBytes)
	s.grant(frame.TransferWindowBytes - frame.WindowBytes)
}

// consumed recycles the payload and grants credit in steps, since each grant wakes the platform.
func (s *stream) consumed(payload []byte) {
	s.ungranted += len(payload)
	frame.Recycle(payload)
	if s.ungranted >= grantStep {
		s.grant(s.ungranted)
		s.ungranted = 0
	}
}

func (s *stream) end(value any) {
	s.sending.Lock()
	defer s.sending.Unlock()
	s.ended = true
	s.conn.sendJSON(frame.End, s.id, value)
}

func (s *stream) control(payload []byte) bool {
	var message controlMessage
	if json.Unmarshal(payload, &message) != nil {
		return false
	}
	if message.Type == "eof" {
		s.in.finish()
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.apply != nil {
		s.apply(message)
	} else if len(s.early) < maxEarlyControls {
		s.early = append(s.early, message)
	}
	return true
}

// onControl registers the handler of control messages and replays the ones that arrived before the process existed. A
// control is applied before the next frame is read, so a process that a signal ends never reads input sent after the
// signal. It does not wait for earlier input, so a program that reads nothing can still be interrupted.
func (s *stream) onControl(apply func(controlMessage)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, message := range s.early {
		apply(message)
	}
	s.early, s.apply = nil, apply
}

// window counts the bytes that may still be sent.
type window struct {
	mu     sync.Mutex
	cond   sync.Cond
	left   int
	closed bool
}

func newWindow() *window {
	w := &window{left: frame.WindowBytes}
	w.cond.L = &w.mu
	return w
}

func (w *window) take(bytes int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.left < bytes && !w.closed {
		w.cond.Wait()
	}
	if w.closed {
		return false
	}
	w.left -= bytes
	return true
}

// has reports whether the given number of bytes may be sent now, or the stream is over.
func (w *window) has(bytes int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.left >= bytes || w.closed
}

func (w *window) wait(bytes int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.left < bytes && !w.closed {
		w.cond.Wait()
	}
}

func (w *window) grant(bytes int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left += bytes
	w.cond.Broadcast()
	return w.left <= 1<<30
}

func (w *window) close() {
	w.mu.Lock()
	w.closed = true
	w.cond.Broadcast()
	w.mu.Unlock()
}

// inbox holds received payloads until they are consumed, never more than the granted window.
type inbox struct {
	mu       sync.Mutex
	cond     sync.Cond
	payloads [][]byte
	held     int
	window   int
	finished bool
	closed   bool
	kept     bool
}

func newInbox() *inbox {
	i := &inbox{window: frame.WindowBytes}
	i.cond.L = &i.mu
	return i
}

func (i *inbox) push(payload []byte) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed || i.finished {
		return true
	}
	i.held += len(payload)
	if i.held > i.window {
		return false
	}
	i.payloads = append(i.payloads, payload)
	i.cond.Signal()
	return true
}

// next returns the payload of a data frame, with its channel byte first, or nil at the end of input. aborted
// distinguishes a reset from the sender's end of input.
func (i *inbox) next() (payload []byte, aborted bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for len(i.payloads) == 0 && !i.finished && !i.closed {
		i.cond.Wait()
	}
	if len(i.payloads) == 0 || i.closed && !i.kept {
		return nil, i.closed
	}
	payload = i.payloads[0]
	i.payloads[0] = nil
	i.payloads = i.payloads[1:]
	i.held -= len(payload)
	return payload, false
}

func (i *inbox) widen(bytes int) {
	i.mu.Lock()
	i.window += bytes
	i.mu.Unlock()
}

func (i *inbox) finish() {
	i.mu.Lock()
	i.finished = true
	i.cond.Broadcast()
	i.mu.Unlock()
}

// keep makes a reset leave what has arrived before it.
func (i *inbox) keep() {
	i.mu.Lock()
	i.kept = true
	i.mu.Unlock()
}

func (i *inbox) close() {
	i.mu.Lock()
	i.closed = true
	if !i.kept {
		i.payloads = nil
	}
	i.cond.Broadcast()
	i.mu.Unlock()
}
