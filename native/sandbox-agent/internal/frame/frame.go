// Package frame is the wire format between the platform and the helper; PROTOCOL.md describes it.
package frame

import (
	"encoding/binary"
	"errors"
	"io"
)

const (
	// HeaderBytes: payload length (u32), type (u8), stream (u32), all big-endian.
	HeaderBytes = 9
	// MaxPayloadBytes bounds every frame; a longer one ends the connection.
	MaxPayloadBytes = 1 << 20
	// MaxDataBytes is the most that one Data frame of ours carries, so that no stream holds the line for long.
	MaxDataBytes = 64 << 10
	// WindowBytes is what each side may send on a fresh stream before the other grants more.
	WindowBytes = 256 << 10
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

// Frame is one decoded message. Payload belongs to the reader.
type Frame struct {
	Type    byte
	Stream  uint32
	Payload []byte
}

// Read takes exactly one frame. io.EOF means the peer closed between frames.
func Read(r io.Reader) (Frame, error) {
	var header [HeaderBytes]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return Frame{}, err
	}
	length := binary.BigEndian.Uint32(header[0:4])
	if length > MaxPayloadBytes {
		return Frame{}, ErrTooLong
	}
	frame := Frame{Type: header[4], Stream: binary.BigEndian.Uint32(header[5:9])}
	if length > 0 {
		frame.Payload = make([]byte, length)
		if _, err := io.ReadFull(r, frame.Payload); err != nil {
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
