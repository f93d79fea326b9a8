package frame

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"
)

// FuzzRead checks that frames are read the same however the bytes arrive, that writing them again yields the same
// bytes, and that none exceeds the limit.
func FuzzRead(f *testing.F) {
	hello := append(make([]byte, HeaderBytes), "{}"...)
	PutHeader(hello, Hello, 0, 2)
	empty := make([]byte, HeaderBytes)
	PutHeader(empty, Ping, 3, 0)
	long := make([]byte, HeaderBytes)
	PutHeader(long, Data, 1, MaxPayloadBytes+1)
	pooled := make([]byte, HeaderBytes+pooledBytes)
	PutHeader(pooled, Data, 9, pooledBytes)
	for _, seed := range [][]byte{hello, empty, long, pooled, append(bytes.Clone(hello), empty...), hello[:4], append(bytes.Clone(empty), hello[:10]...)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		whole, wholeEnd := readFrames(t, bytes.NewReader(input))
		pieces, piecesEnd := readFrames(t, iotest.OneByteReader(bytes.NewReader(input)))
		if !bytes.Equal(whole, pieces) || wholeEnd != piecesEnd {
			t.Fatalf("bytewise %d bytes (%v), at once %d bytes (%v)", len(pieces), piecesEnd, len(whole), wholeEnd)
		}
		if !bytes.HasPrefix(input, whole) {
			t.Fatal("the frames differ from the bytes sent")
		}
		if wholeEnd == io.EOF && len(whole) != len(input) {
			t.Fatalf("%d of %d bytes were read", len(whole), len(input))
		}
	})
}

// readFrames returns the encoded frames, and the error that ended them.
func readFrames(t *testing.T, source io.Reader) ([]byte, error) {
	out := []byte{}
	reader := NewReader(source)
	for {
		f, err := reader.Read()
		if err != nil {
			if err != io.EOF && err != io.ErrUnexpectedEOF && !errors.Is(err, ErrTooLong) {
				t.Fatalf("unexpected error %v", err)
			}
			return out, err
		}
		if len(f.Payload) > MaxPayloadBytes {
			t.Fatalf("a payload of %d bytes", len(f.Payload))
		}
		var header [HeaderBytes]byte
		PutHeader(header[:], f.Type, f.Stream, len(f.Payload))
		out = append(append(out, header[:]...), f.Payload...)
		Recycle(f.Payload)
	}
}
