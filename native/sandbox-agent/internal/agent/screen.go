package agent

const (
	// screenStepBytes is how much unsent output is kept in the ring before it is sent to a screen. Most sessions never
	// produce that much.
	screenStepBytes = sessionRing / 2
	// maxSizeMarks bounds the sizes in the ring: dragging a window changes the size with nearly every byte.
	maxSizeMarks    = 1024
	screenStepMarks = maxSizeMarks / 4
)

// sizeMark records the terminal's size from an offset on.
type sizeMark struct {
	at   uint64
	size windowSize
}

// screenReader feeds the platform's copy of a session's screen. It is not a client: it does not keep the session alive,
// and the writer waits for it only while it has credit. Like a slow client, it loses overwritten output.
type screenReader struct {
	cursor  uint64
	size    windowSize
	starved bool
	// wanted is set while a client waits for everything up to `target`.
	wanted bool
	target uint64
}

// screenStep is the next item to send to a screen.
type screenStep struct {
	bytes    int
	lost     uint64
	size     *windowSize
	caughtUp bool
}

// mark records the size for all output written from now on.
func (r *ring) mark(size windowSize) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if last := len(r.sizes) - 1; last >= 0 && (r.sizes[last].at == r.end || r.sizes[last].size == size) {
		r.sizes[last].size = size
		return
	}
	r.dropSizesBefore(r.oldest())
	if len(r.sizes) == maxSizeMarks {
		r.sizes = r.sizes[1:]
	}
	r.sizes = append(r.sizes, sizeMark{r.end, size})
	r.cond.Broadcast()
}

// dropSizesBefore keeps the size in effect at the offset and all later ones.
func (r *ring) dropSizesBefore(offset uint64) {
	for len(r.sizes) > 1 && r.sizes[1].at <= offset {
		r.sizes = r.sizes[1:]
	}
}

// attachScreen replaces an earlier screen, whose connection is assumed to be lost.
func (r *ring) attachScreen(since uint64) (*screenReader, uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.screen = &screenReader{cursor: min(max(since, r.oldest()), r.end)}
	r.cond.Broadcast()
	return r.screen, r.end
}

func (r *ring) detachScreen(s *screenReader) {
	r.mu.Lock()
	if r.screen == s {
		r.screen = nil
	}
	r.cond.Broadcast()
	r.mu.Unlock()
}

// catchUp requests everything written so far.
func (r *ring) catchUp(s *screenReader) {
	r.mu.Lock()
	s.wanted, s.target = true, r.end
	r.cond.Broadcast()
	r.mu.Unlock()
}

// setStarved records whether the screen has no credit to send. Output does not wait for a starved screen.
func (r *ring) setStarved(s *screenReader, starved bool) {
	r.mu.Lock()
	s.starved = starved
	r.cond.Broadcast()
	r.mu.Unlock()
}

// awaitScreen waits until there is something to send to the screen. Returns false once the session has another screen.
func (r *ring) awaitScreen(s *screenReader) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.screen == s && !s.wanted && r.end-s.cursor < screenStepBytes && len(r.sizes) < screenStepMarks {
		r.cond.Wait()
	}
	return r.screen == s
}

// stepScreen returns the next step without waiting: a size comes before the bytes written for it.
func (r *ring) stepScreen(s *screenReader, p []byte) screenStep {
	r.mu.Lock()
	defer r.mu.Unlock()
	if oldest := r.oldest(); s.cursor < oldest {
		from := s.cursor
		s.cursor = r.end - uint64(len(r.buffer)/2)
		return screenStep{lost: s.cursor - from}
	}
	r.dropSizesBefore(s.cursor)
	if len(r.sizes) > 0 && r.sizes[0].at <= s.cursor && r.sizes[0].size != s.size {
		s.size = r.sizes[0].size
		size := s.size
		return screenStep{size: &size}
	}
	if s.wanted && s.cursor >= s.target {
		s.wanted = false
		return screenStep{caughtUp: true}
	}
	until := r.end
	if len(r.sizes) > 1 {
		until = min(until, r.sizes[1].at)
	}
	at := int(s.cursor % uint64(len(r.buffer)))
	n := copy(p, r.buffer[at:min(len(r.buffer), at+int(until-s.cursor))])
	s.cursor += uint64(n)
	r.cond.Broadcast()
	return screenStep{bytes: n}
}

// serveScreen streams a session's output and sizes to the platform until the session or the stream ends.
func (a *agent) serveScreen(to *stream, r *request) (any, *failure) {
	found := a.find(r.Session)
	if found == nil {
		return nil, fail("NO_SUCH_SESSION", "no session "+r.Session)
	}
	since := uint64(0)
	if r.Since != nil {
		since = *r.Since
	}
	ring := found.terminal.ring
	screen, end := ring.attachScreen(since)
	to.event(map[string]any{"type": "started", "offset": screen.cursor, "end": end})
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-to.done:
		case <-found.left:
		case <-over:
		}
		ring.detachScreen(screen)
	}()
	to.onControl(func(message controlMessage) {
		if message.Type == "catch_up" {
			ring.catchUp(screen)
		}
	})
	sendScreen(to, ring, screen)
	return map[string]any{}, nil
}

func sendScreen(to *stream, ring *ring, screen *screenReader) {
	var buffer []byte
	for ring.awaitScreen(screen) {
		if buffer == nil {
			buffer = make([]byte, dataHead+terminalChunk)
		}
		step := ring.stepScreen(screen, buffer[dataHead:])
		switch {
		case step.lost > 0:
			to.event(map[string]any{"type": "lagged", "bytes": step.lost})
		case step.size != nil:
			to.event(map[string]any{"type": "resized", "cols": step.size.Cols, "rows": step.size.Rows})
		case step.caughtUp:
			to.event(map[string]any{"type": "caught_up"})
		case step.bytes > 0:
			if !to.out.has(step.bytes + 1) {
				ring.setStarved(screen, true)
				to.out.wait(step.bytes + 1)
				ring.setStarved(screen, false)
			}
			if !to.sendData(channelStdout, buffer, step.bytes) {
				return
			}
		}
	}
}
