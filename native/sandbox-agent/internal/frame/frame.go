// Package frame implements the wire format between platform and helper, described in PROTOCOL.md.
package frame

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"sync"
)

const (
	// HeaderBytes is the size of a header: payload length (u32), type (u8), stream (u32), all big-endian.
	HeaderBytes = 9
	// MaxPayloadBytes bounds every frame; a longer one ends the connection.
	MaxPayloadBytes = 1 << 20
	// MaxDataBytes bounds the payload of the data frames sent here, so that no stream blocks the connection for long.
	MaxDataBytes = 128 << 10
	// WindowBytes is what each side may send on a new stream before the other side grants more.
	WindowBytes = 256 << 10
	// TransferWindowBytes is the total window of a transfer.
	TransferWindowBytes = 1 << 20
	// pooledBytes is the payload size from which a buffer is worth reusing.
	pooledBytes = 8 << 10
)

const (
	Hello   byte = 0x01
	Open    byte = 0x02
	Data    byte = 0x03
	Control byte = 0x04
	Credit  byte = 0x05
	End     byte = 0x06
	Reset   byte = 0x07
	Ping    byte = 0x08
	Pong    byte = 0x09
)

// ErrTooLong is a protocol violation: the peer announced a payload above MaxPayloadBytes.
var ErrTooLong = errors.New("frame exceeds the size limit")

// Frame is one decoded message. The reader owns Payload and may return it with Recycle.
type Frame struct {
	Type    byte
	Stream  uint32
	Payload []byte
}

// payloads are pooled: at hundreds of megabytes per second, garbage collection would dominate.
var payloads = sync.Pool{New: func() any { return new([MaxDataBytes + 1]byte) }}

func newPayload(length int) []byte {
	if length < pooledBytes || length > MaxDataBytes+1 {
		return make([]byte, length)
	}
	return payloads.Get().(*[MaxDataBytes + 1]byte)[:length]
}

// Recycle returns a payload, in its full length, to the pool. The caller must not use it afterwards.
func Recycle(payload []byte) {
	if cap(payload) == MaxDataBytes+1 {
		payloads.Put((*[MaxDataBytes + 1]byte)(payload[:MaxDataBytes+1]))
	}
}

// Reader reads frames with few system calls: a header is read together with what follows it.
type Reader struct {
	source *bufio.Reader
}

// NewReader uses a small buffer: long payloads are read directly into their own buffer.
func NewReader(source io.Reader) *Reader { return &Reader{bufio.NewReaderSize(source, 4<<10)} }

// Read returns one frame. io.EOF means that the peer closed between frames.
func (r *Reader) Read() (Frame, error) {
	var header [HeaderBytes]byte
	if _, err := io.ReadFull(r.source, header[:]); err != nil {
		return Frame{}, err
	}
	length := binary.BigEndian.Uint32(header[0:4])
	if length > MaxPayloadBytes {
		return Frame{}, ErrTooLong
	}
	frame := Frame{Type: header[4], Stream: binary.BigEndian.Uint32(header[5:9])}
	if length > 0 {
		frame.Payload = newPayload(int(length))
		if _, err := io.ReadFull(r.source, frame.Payload); err != nil {
			return Frame{}, io.ErrUnexpectedEOF
		}
	}
	return frame, nil
}

// PutHeader writes a header into the first HeaderBytes of buffer.
func PutHeader(buffer []byte, kind byte, stream uint32, payloadBytes int) {
	binary.BigEndian.PutUint32(buffer[0:4], uint32(payloadBytes))
	buffer[4] = kind
	binary.BigEndian.PutUint32(buffer[5:9], stream)
}
