package frame

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

func TestReadGivesBackWhatPutHeaderAnnounced(t *testing.T) {
	buffer := append(make([]byte, HeaderBytes), "hello"...)
	PutHeader(buffer, Data, 7, 5)
	got, err := Read(bytes.NewReader(buffer))
	if err != nil || got.Type != Data || got.Stream != 7 || string(got.Payload) != "hello" {
		t.Fatalf("got %+v, %v", got, err)
	}
}

func TestReadRefusesAPayloadAboveTheLimitBeforeAllocatingIt(t *testing.T) {
	header := make([]byte, HeaderBytes)
	PutHeader(header, Data, 1, MaxPayloadBytes+1)
	if _, err := Read(bytes.NewReader(header)); !errors.Is(err, ErrTooLong) {
		t.Fatalf("got %v", err)
	}
}

func TestReadTellsACutFrameFromAClosedConnection(t *testing.T) {
	header := make([]byte, HeaderBytes)
	PutHeader(header, Data, 1, 5)
	if _, err := Read(bytes.NewReader(append(header, "he"...))); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("cut: got %v", err)
	}
	if _, err := Read(bytes.NewReader(nil)); !errors.Is(err, io.EOF) {
		t.Fatalf("closed: got %v", err)
	}
}
