// Package frame is the wire format between the platform and the helper; PROTOCOL.md describes it.
package frame

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"sync"
)

const (
	// HeaderBytes: payload length (u32), type (u8), stream (u32), all big-endian.
	HeaderBytes = 9
	// MaxPayloadBytes bounds every frame; a longer one ends the connection.
	MaxPayloadBytes = 1 << 20
	// MaxDataBytes is the most that one Data frame of ours carries, so that no stream holds the line for long.
	MaxDataBytes = 128 << 10
	// WindowBytes is what each side may send on a fresh stream before the other grants more.
	WindowBytes = 256 << 10
	// TransferWindowBytes is what a transfer is granted in all.
	TransferWindowBytes = 1 << 20
	// pooledBytes is where a payload is worth to be used again.
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
var ErrTooLong = errors.New("frame is longer than the limit")

// Frame is one decoded message. Payload belongs to the reader, who may give it back by Recycle.
type Frame struct {
	Type    byte
	Stream  uint32
	Payload []byte
}

// payloads are used again: at hundreds of megabytes in a second the collector would have more to do than we.
var payloads = sync.Pool{New: func() any { return new([MaxDataBytes + 1]byte) }}

func newPayload(length int) []byte {
	if length < pooledBytes || length > MaxDataBytes+1 {
		return make([]byte, length)
	}
	return payloads.Get().(*[MaxDataBytes + 1]byte)[:length]
}

// Recycle takes a payload back, whole as it was read. Nobody may use it afterwards.
func Recycle(payload []byte) {
	if cap(payload) == MaxDataBytes+1 {
		payloads.Put((*[MaxDataBytes + 1]byte)(payload[:MaxDataBytes+1]))
	}
}

// Reader reads frames with few system calls: headers come with what follows them.
type Reader struct {
	source *bufio.Reader
}

// NewReader has a small buffer: what is long is read into its own place.
func NewReader(source io.Reader) *Reader { return &Reader{bufio.NewReaderSize(source, 4<<10)} }

// Read takes exactly one frame. io.EOF means the peer closed between frames.
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
