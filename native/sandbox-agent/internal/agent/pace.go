package agent

import (
	"sync/atomic"
	"time"
)

const (
	// streamGap is the largest gap between pieces that still counts as continuous output.
	streamGap = time.Millisecond
	// streamPieces is how many such pieces in a row count as continuous output.
	streamPieces = 4
	// fullLineBuffer is the capacity of a terminal's buffer. A full read means that more output follows.
	fullLineBuffer = 4095
	gatherWait     = 500 * time.Microsecond
	gatherWaits    = 4
)

// pace decides when output is held back for a moment. Each piece passes through two processes and a network, so
// continuous output is sent in a few large pieces, while the first piece and the echo of a key are sent immediately.
type pace struct {
	typed  *atomic.Bool
	last   time.Time
	pieces int
	waits  int
}

// holdBack waits and returns true if more output should be read into the same piece, which has n bytes so far.
func (p *pace) holdBack(n int) bool {
	if p.waits == 0 {
		if p.typed.Swap(false) || time.Since(p.last) >= streamGap {
			p.pieces = 0
		}
		p.pieces++
	}
	if p.waits == gatherWaits || (n < fullLineBuffer && p.pieces < streamPieces) {
		return false
	}
	p.waits++
	time.Sleep(gatherWait)
	return true
}

func (p *pace) sent() {
	p.last, p.waits = time.Now(), 0
}
