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
	got, err := NewReader(bytes.NewReader(buffer)).Read()
	if err != nil || got.Type != Data || got.Stream != 7 || string(got.Payload) != "hello" {
		t.Fatalf("got %+v, %v", got, err)
	}
}

func TestReadRefusesAPayloadAboveTheLimitBeforeAllocatingIt(t *testing.T) {
	header := make([]byte, HeaderBytes)
	PutHeader(header, Data, 1, MaxPayloadBytes+1)
	if _, err := NewReader(bytes.NewReader(header)).Read(); !errors.Is(err, ErrTooLong) {
		t.Fatalf("got %v", err)
	}
}

func TestReadTellsACutFrameFromAClosedConnection(t *testing.T) {
	header := make([]byte, HeaderBytes)
	PutHeader(header, Data, 1, 5)
	if _, err := NewReader(bytes.NewReader(append(header, "he"...))).Read(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("cut: got %v", err)
	}
	if _, err := NewReader(bytes.NewReader(nil)).Read(); !errors.Is(err, io.EOF) {
		t.Fatalf("closed: got %v", err)
	}
}
