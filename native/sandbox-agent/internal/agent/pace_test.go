package agent

import (
	"os"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestPaceLetsTheFirstPiecesGoAndHoldsAStreamBackABoundedNumberOfTimes(t *testing.T) {
	var typed atomic.Bool
	p := &pace{typed: &typed}
	if p.holdBack(1) {
		t.Fatal("a single piece was held back")
	}
	if p.sent(); !p.holdBack(fullLineBuffer) {
		t.Fatal("a full buffer was not held back")
	}
	waits := 1
	for p.holdBack(fullLineBuffer + waits) {
		waits++
	}
	if waits != gatherWaits {
		t.Fatalf("held back %d times", waits)
	}
	p.sent()
	p.pieces, p.last = streamPieces, time.Now().Add(time.Hour) // makes the next piece follow closely, however slow the machine is
	if !p.holdBack(1) {
		t.Fatal("continuous small pieces were not held back")
	}
	p.sent()
	p.last = time.Now().Add(time.Hour)
	typed.Store(true)
	if p.holdBack(1) {
		t.Fatal("output after a key was held back")
	}
}

func TestReadyReaderGathersWhatIsThereAndReadsOnAfterADeadline(t *testing.T) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		t.Fatal(err)
	}
	from, to := os.NewFile(uintptr(ends[0]), "from"), os.NewFile(uintptr(ends[1]), "to")
	defer from.Close()
	r := newReadyReader(from)
	buffer := make([]byte, 64)
	for range 3 {
		if _, err := to.WriteString("piece "); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := r.read(buffer); string(buffer[:n]) != "piece piece piece " || err != nil {
		t.Fatalf("got %q, %v", buffer[:n], err)
	}
	if n := r.readNow(buffer); n != 0 {
		t.Fatalf("read %d bytes without data", n)
	}
	_ = from.SetReadDeadline(time.Unix(1, 0))
	if n, err := r.read(buffer); n != 0 || !os.IsTimeout(err) {
		t.Fatalf("got %d, %v", n, err)
	}
	_, _ = to.WriteString("late")
	if n := r.readNow(buffer); string(buffer[:n]) != "late" {
		t.Fatalf("got %q", buffer[:n])
	}
	_ = from.SetReadDeadline(time.Time{})
	_ = to.Close()
	if n, err := r.read(buffer); n != 0 || err == nil {
		t.Fatalf("got %d, %v at the end", n, err)
	}
}
