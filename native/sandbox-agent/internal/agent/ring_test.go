package agent

import (
	"bytes"
	"testing"
	"time"
)

func readAll(r *ring, reader *ringReader, n int) []byte {
	got := make([]byte, 0, n)
	buffer := make([]byte, 5)
	for len(got) < n {
		read, lost := r.read(reader, buffer)
		if read == 0 && lost == 0 {
			break
		}
		got = append(got, buffer[:read]...)
	}
	return got
}

func TestRingReplaysWhatItStillHas(t *testing.T) {
	r := newRing(8)
	r.write([]byte("abcdefghijkl"))
	for _, c := range []struct {
		since uint64
		want  string
	}{{0, "efghijkl"}, {4, "efghijkl"}, {10, "kl"}, {12, ""}, {99, ""}} {
		reader, end := r.attach(&c.since)
		if end != 12 {
			t.Fatalf("the ring ends at %d", end)
		}
		if got := readAll(r, reader, len(c.want)); string(got) != c.want {
			t.Errorf("since %d: got %q, want %q", c.since, got, c.want)
		}
		r.detach(reader)
	}
}

func TestRingLeavesASlowReaderBehind(t *testing.T) {
	r := newRing(8)
	slow, _ := r.attach(nil)
	fast, _ := r.attach(nil)
	text := bytes.Repeat([]byte("0123456789"), 10)
	written := make(chan struct{})
	go func() { r.write(text); close(written) }()
	if got := readAll(r, fast, len(text)); !bytes.Equal(got, text) {
		t.Fatalf("the fast reader got %q", got)
	}
	<-written
	n, lost := r.read(slow, make([]byte, 8))
	if n != 0 || lost != 96 {
		t.Fatalf("the slow reader got %d bytes and lost %d", n, lost)
	}
	if got := readAll(r, slow, 4); string(got) != "6789" {
		t.Fatalf("after the gap it got %q", got)
	}
}

func TestRingGoesOnWhenOnlyAReaderIsLeftThatWasPassed(t *testing.T) {
	r := newRing(8)
	slow, _ := r.attach(nil)
	fast, _ := r.attach(nil)
	for range 5 {
		r.write([]byte("01234567"))
		readAll(r, fast, 8)
	}
	r.detach(fast)
	r.write([]byte("abcdefgh"))
	if _, lost := r.read(slow, make([]byte, 8)); lost != 44 {
		t.Fatalf("the last remaining reader lost %d", lost)
	}
	if got := readAll(r, slow, 4); string(got) != "efgh" {
		t.Fatalf("after the gap it got %q", got)
	}
}

func TestRingStopsItsWriterWhenNobodyKeepsUp(t *testing.T) {
	r := newRing(8)
	reader, _ := r.attach(nil)
	written := make(chan struct{})
	go func() { r.write([]byte("0123456789")); close(written) }()
	select {
	case <-written:
		t.Fatal("the writer overtook its only reader")
	case <-time.After(50 * time.Millisecond):
	}
	r.detach(reader)
	<-written
}

func TestRingWaitsForEveryReaderThatKeepsUp(t *testing.T) {
	r := newRing(64)
	text := bytes.Repeat([]byte("0123456789"), 1000)
	readers := make(chan []byte)
	for range 3 {
		reader, _ := r.attach(nil)
		go func() { readers <- readAll(r, reader, len(text)) }()
	}
	// In steps smaller than half the ring; otherwise a reader could fall behind by chance.
	for at := 0; at < len(text); at += 20 {
		r.write(text[at : at+20])
		for !r.readersAreThere() {
			time.Sleep(time.Microsecond)
		}
	}
	for range 3 {
		if got := <-readers; !bytes.Equal(got, text) {
			t.Fatalf("a reader that kept up got %d bytes of %d", len(got), len(text))
		}
	}
}

func (r *ring) readersAreThere() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for reader := range r.readers {
		if reader.cursor != r.end {
			return false
		}
	}
	return true
}
