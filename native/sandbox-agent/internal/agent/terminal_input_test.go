package agent

import (
	"io"
	"os"
	"testing"
)

func TestWhatArrivedBeforeAResetIsTyped(t *testing.T) {
	for _, grace := range []bool{true, false} {
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		s := &stream{in: newInbox(), done: make(chan struct{})}
		s.ended = true
		terminal := &terminal{input: chunkWriter{file: write}}
		if grace {
			terminal.input.grace = typeGrace
		}
		s.in.keep()
		for _, text := range []string{"\x00one ", "\x00two"} {
			if !s.in.push([]byte(text)) {
				t.Fatal("the window is too small")
			}
		}
		close(s.done)
		s.in.close()
		terminal.takeInput(s)
		_ = write.Close()
		typed, err := io.ReadAll(read)
		if err != nil {
			t.Fatal(err)
		}
		want := ""
		if grace {
			want = "one two"
		}
		if string(typed) != want {
			t.Errorf("with a grace time %v: typed %q, want %q", grace, typed, want)
		}
	}
}

func TestAResetDropsWhatArrivedUnlessItIsKept(t *testing.T) {
	in := newInbox()
	in.push([]byte{0, 1})
	in.close()
	if payload, aborted := in.next(); payload != nil || !aborted {
		t.Errorf("got %v, %v", payload, aborted)
	}
}
