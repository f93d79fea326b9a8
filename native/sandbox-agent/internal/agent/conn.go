package agent

import (
	"encoding/binary"
	"encoding/json"
	"os"
	"sync"
	"sync/atomic"

	"svc.dev/sandbox-agent/internal/frame"
)

const (
	protocolVersion = 1
	maxStreams      = 256
)

// features lists what was added after version 1 of the protocol. A sandbox keeps the helper that it was started with.
var features = []string{"processes", "users", "attributes", "compose", "pause", "root"}

// conn is a connection from the platform. Only the platform opens streams.
type conn struct {
	agent   *agent
	file    *os.File
	writing sync.Mutex
	mu      sync.Mutex
	streams map[uint32]*stream
	// pings counts those that wait for the end of a pause.
	pings atomic.Int32
	gone  chan struct{}
}

func newConn(a *agent, file *os.File) *conn {
	return &conn{agent: a, file: file, streams: map[uint32]*stream{}, gone: make(chan struct{})}
}

func (a *agent) serve(file *os.File) {
	c := newConn(a, file)
	defer c.close()
	c.sendJSON(frame.Hello, 0, map[string]any{"protocol": protocolVersion, "pid": os.Getpid(), "features": features})
	reader := frame.NewReader(file)
	for {
		f, err := reader.Read()
		if err != nil || !c.dispatch(f) {
			return
		}
	}
}

// dispatch returns false on a protocol violation, which ends the connection.
func (c *conn) dispatch(f frame.Frame) bool {
	switch f.Type {
	case frame.Ping:
		return c.pong(f)
	case frame.Open:
		return c.open(f)
	}
	c.mu.Lock()
	s := c.streams[f.Stream]
	c.mu.Unlock()
	if s == nil {
		// The stream ended while this frame was in flight.
		return f.Type == frame.Data || f.Type == frame.Control || f.Type == frame.Credit || f.Type == frame.Reset
	}
	switch f.Type {
	case frame.Data:
		return len(f.Payload) > 0 && s.in.push(f.Payload)
	case frame.Control:
		return s.control(f.Payload)
	case frame.Credit:
		return len(f.Payload) == 4 && s.out.grant(int(binary.BigEndian.Uint32(f.Payload)))
	case frame.Reset:
		s.abort()
		return true
	}
	return false
}

// pong answers a ping, if the sandbox is paused after its resume.
func (c *conn) pong(f frame.Frame) bool {
	if c.agent.pauser.barrier() == nil {
		return c.send(frame.Pong, f.Stream, f.Payload) == nil
	}
	if c.pings.Add(1) > maxWaitingPings {
		return false
	}
	go func() {
		defer c.pings.Add(-1)
		if c.agent.pauser.await(c.gone) {
			_ = c.send(frame.Pong, f.Stream, f.Payload)
		}
	}()
	return true
}

func (c *conn) open(f frame.Frame) bool {
	var request request
	if err := json.Unmarshal(f.Payload, &request); err != nil {
		return false
	}
	c.mu.Lock()
	_, taken := c.streams[f.Stream]
	if taken || f.Stream == 0 || len(c.streams) >= maxStreams {
		c.mu.Unlock()
		return false
	}
	s := newStream(c, f.Stream)
	c.streams[f.Stream] = s
	c.mu.Unlock()
	go func() {
		result, failure := c.agent.handle(s, &request)
		c.finish(s, result, failure)
	}()
	return true
}

func (c *conn) finish(s *stream, result any, failure *failure) {
	if failure != nil {
		s.end(map[string]any{"error": failure})
	} else {
		s.end(map[string]any{"result": result})
	}
	c.mu.Lock()
	delete(c.streams, s.id)
	c.mu.Unlock()
	s.abort()
}

func (c *conn) close() {
	_ = c.file.Close()
	close(c.gone)
	c.mu.Lock()
	streams := c.streams
	c.streams = map[uint32]*stream{}
	c.mu.Unlock()
	for _, s := range streams {
		s.abort()
	}
}

func (c *conn) sendJSON(kind byte, id uint32, value any) {
	payload, err := json.Marshal(value)
	if err != nil || len(payload) > frame.MaxPayloadBytes {
		payload = []byte(`{"error":{"code":"IO_ERROR","message":"cannot encode the result"}}`)
	}
	_ = c.send(kind, id, payload)
}

func (c *conn) send(kind byte, id uint32, payload []byte) error {
	buffer := make([]byte, frame.HeaderBytes+len(payload))
	frame.PutHeader(buffer, kind, id, len(payload))
	copy(buffer[frame.HeaderBytes:], payload)
	return c.write(buffer)
}

func (c *conn) write(buffer []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err := c.file.Write(buffer)
	return err
}
