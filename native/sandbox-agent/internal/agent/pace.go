package agent

import (
	"sync/atomic"
	"time"
)

const (
	// What comes closer together than this is a stream of output, not single answers.
	streamGap = time.Millisecond
	// So many in a row make a stream.
	streamPieces = 4
	// What a terminal's buffer holds at most: more is on its way behind it.
	fullLineBuffer = 4095
	gatherWait     = 500 * time.Microsecond
	gatherWaits    = 4
)

// pace decides when output waits a moment for more. Each piece costs its way through two processes and a network; of a
// program that floods its terminal a few large ones are sent, while the first piece, and what follows a key, goes at once.
type pace struct {
	typed  *atomic.Bool
	last   time.Time
	pieces int
	waits  int
}

// holdBack waits and answers true when more is to be read into the same piece, which has n bytes.
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
