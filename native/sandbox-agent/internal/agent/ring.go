package agent

import "sync"

// ring keeps the last bytes of a terminal under absolute offsets. With a reader attached the writer waits for it, so
// that the PTY itself is slowed; without one the oldest bytes go.
type ring struct {
	mu       sync.Mutex
	cond     sync.Cond
	buffer   []byte
	end      uint64
	reader   *ringReader
	finished bool
}

type ringReader struct{ cursor uint64 }

func newRing(capacity int) *ring {
	r := &ring{buffer: make([]byte, capacity)}
	r.cond.L = &r.mu
	return r
}

func (r *ring) oldest() uint64 {
	if capacity := uint64(len(r.buffer)); r.end > capacity {
		return r.end - capacity
	}
	return 0
}

func (r *ring) write(p []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(p) > 0 {
		room := len(r.buffer)
		if r.reader != nil {
			room -= int(r.end - r.reader.cursor)
		}
		if room == 0 {
			r.cond.Wait()
			continue
		}
		at := int(r.end % uint64(len(r.buffer)))
		n := copy(r.buffer[at:min(len(r.buffer), at+room)], p)
		p = p[n:]
		r.end += uint64(n)
		r.cond.Broadcast()
	}
}

// attach makes a new reader from `since`, or from as near to it as the ring still has; the former reader is detached.
func (r *ring) attach(since *uint64) *ringReader {
	r.mu.Lock()
	defer r.mu.Unlock()
	reader := &ringReader{cursor: r.end}
	if since != nil {
		reader.cursor = min(max(*since, r.oldest()), r.end)
	}
	r.reader = reader
	r.cond.Broadcast()
	return reader
}

func (r *ring) detach(reader *ringReader) {
	r.mu.Lock()
	if r.reader == reader {
		r.reader = nil
	}
	r.cond.Broadcast()
	r.mu.Unlock()
}

// read waits for bytes and copies them to p; 0 means that the terminal is finished or the reader was detached.
func (r *ring) read(reader *ringReader, p []byte) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.reader == reader && reader.cursor == r.end && !r.finished {
		r.cond.Wait()
	}
	if r.reader != reader || reader.cursor == r.end {
		return 0
	}
	at := int(reader.cursor % uint64(len(r.buffer)))
	available := min(int(r.end-reader.cursor), len(r.buffer)-at)
	n := copy(p, r.buffer[at:at+available])
	reader.cursor += uint64(n)
	r.cond.Broadcast()
	return n
}

func (r *ring) finish() {
	r.mu.Lock()
	r.finished = true
	r.cond.Broadcast()
	r.mu.Unlock()
}
