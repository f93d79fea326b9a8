package agent

import "sync"

// ring keeps the last bytes of a terminal under absolute offsets, for any number of readers. The writer waits for
// readers that keep up, which slows the PTY when all readers are slow. It does not wait for a reader that is more than
// half the ring behind the foremost one: such a reader loses its unread bytes when it falls a whole ring behind, and is
// told so. Without a reader, the oldest bytes are overwritten.
type ring struct {
	mu       sync.Mutex
	cond     sync.Cond
	buffer   []byte
	end      uint64
	readers  map[*ringReader]struct{}
	screen   *screenReader
	sizes    []sizeMark
	finished bool
}

type ringReader struct{ cursor uint64 }

func newRing(capacity int) *ring {
	r := &ring{buffer: make([]byte, capacity), readers: map[*ringReader]struct{}{}}
	r.cond.L = &r.mu
	return r
}

func (r *ring) oldest() uint64 {
	if capacity := uint64(len(r.buffer)); r.end > capacity {
		return r.end - capacity
	}
	return 0
}

// room returns how much can be written without overtaking a reader that keeps up. A reader that was already overtaken
// does not count: it may be the only one left.
func (r *ring) room() int {
	oldest, foremost := r.oldest(), uint64(0)
	for reader := range r.readers {
		foremost = max(foremost, reader.cursor)
	}
	slowest := r.end
	for reader := range r.readers {
		if reader.cursor >= oldest && foremost-reader.cursor <= uint64(len(r.buffer)/2) {
			slowest = min(slowest, reader.cursor)
		}
	}
	if s := r.screen; s != nil && !s.starved && s.cursor >= oldest {
		slowest = min(slowest, s.cursor)
	}
	return len(r.buffer) - int(r.end-slowest)
}

func (r *ring) write(p []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(p) > 0 {
		room := r.room()
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

// attach adds a reader at `since`, or at the nearest offset that is still in the ring, and returns the end of the ring.
func (r *ring) attach(since *uint64) (*ringReader, uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	reader := &ringReader{cursor: r.end}
	if since != nil {
		reader.cursor = min(max(*since, r.oldest()), r.end)
	}
	r.readers[reader] = struct{}{}
	r.cond.Broadcast()
	return reader, r.end
}

func (r *ring) detach(reader *ringReader) {
	r.mu.Lock()
	delete(r.readers, reader)
	r.cond.Broadcast()
	r.mu.Unlock()
}

// read waits for bytes and copies them to p; 0 means that the terminal ended or the reader was detached. If bytes were
// overwritten before the reader got to them, read returns their number as `lost` and copies nothing.
func (r *ring) read(reader *ringReader, p []byte) (n int, lost uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.attached(reader) && reader.cursor == r.end && !r.finished {
		r.cond.Wait()
	}
	if !r.attached(reader) || reader.cursor == r.end {
		return 0, 0
	}
	if reader.cursor < r.oldest() {
		from := reader.cursor
		reader.cursor = r.end - uint64(len(r.buffer)/2) // not the oldest byte, which would be overwritten again at once
		return 0, reader.cursor - from
	}
	at := int(reader.cursor % uint64(len(r.buffer)))
	available := min(int(r.end-reader.cursor), len(r.buffer)-at)
	n = copy(p, r.buffer[at:at+available])
	reader.cursor += uint64(n)
	r.cond.Broadcast()
	return n, 0
}

func (r *ring) attached(reader *ringReader) bool {
	_, is := r.readers[reader]
	return is
}

func (r *ring) finish() {
	r.mu.Lock()
	r.finished = true
	r.cond.Broadcast()
	r.mu.Unlock()
}
