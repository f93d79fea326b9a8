package agent

import (
	"bytes"
	"testing"
)

func stepAll(r *ring, s *screenReader, p []byte) (got []byte, events []screenStep) {
	for r.awaitScreen(s) {
		step := r.stepScreen(s, p)
		got = append(got, p[:step.bytes]...)
		if step.bytes == 0 {
			events = append(events, step)
		}
		if step.caughtUp {
			break
		}
	}
	return got, events
}

func TestAScreenIsToldSizesBetweenTheBytesThatWereWrittenForThem(t *testing.T) {
	r := newRing(64)
	r.mark(windowSize{80, 24})
	r.write([]byte("abc"))
	r.mark(windowSize{90, 24})
	r.mark(windowSize{100, 30})
	r.write([]byte("def"))
	s, end := r.attachScreen(0)
	if end != 6 {
		t.Fatalf("the ring ends at %d", end)
	}
	r.catchUp(s)
	var told []string
	for p := make([]byte, 8); ; {
		step := r.stepScreen(s, p)
		if step.caughtUp {
			break
		}
		if step.size != nil {
			told = append(told, string(rune('0'+step.size.Cols/10)))
		}
		told = append(told, string(p[:step.bytes]))
	}
	if got := bytes.Join([][]byte{[]byte(told[0]), []byte(told[2]), []byte(told[3]), []byte(told[5])}, nil); string(got) != "8abc:def" {
		t.Fatalf("the screen received the events %q", told)
	}
}

func TestTheWriterWaitsForAScreenThatMaySend(t *testing.T) {
	r := newRing(2 * screenStepBytes)
	s, _ := r.attachScreen(0)
	text := bytes.Repeat([]byte("0123456789"), screenStepBytes)
	go func() {
		r.write(text)
		r.catchUp(s)
	}()
	got, events := stepAll(r, s, make([]byte, 4096))
	if !bytes.Equal(got, text) {
		t.Fatalf("the screen received %d of %d bytes", len(got), len(text))
	}
	if len(events) != 1 {
		t.Fatalf("the screen received the events %v", events)
	}
}

func TestNobodyWaitsForAScreenThatMaySendNothing(t *testing.T) {
	r := newRing(64)
	s, _ := r.attachScreen(0)
	r.setStarved(s, true)
	r.write(bytes.Repeat([]byte("0123456789"), 100))
	r.setStarved(s, false)
	r.catchUp(s)
	got, events := stepAll(r, s, make([]byte, 64))
	if len(events) != 2 || events[0].lost != 968 || !bytes.Equal(got, []byte("89012345678901234567890123456789")) {
		t.Fatalf("the screen received %q and the events %v", got, events)
	}
}

func TestASecondScreenTakesThePlaceOfTheFirst(t *testing.T) {
	r := newRing(64)
	first, _ := r.attachScreen(0)
	second, _ := r.attachScreen(0)
	if r.awaitScreen(first) {
		t.Fatal("the first screen is still attached")
	}
	r.detachScreen(first)
	r.catchUp(second)
	if !r.awaitScreen(second) {
		t.Fatal("the second screen was detached")
	}
}
