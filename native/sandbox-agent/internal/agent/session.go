package agent

import (
	"sync"
	"time"
)

const (
	maxSessions   = 16
	defaultLinger = 10 * time.Minute
	maxLinger     = 24 * time.Hour
)

// session is a terminal that outlives the stream that started it, until it has had no reader for its linger time.
type session struct {
	id       string
	terminal *terminal
	started  time.Time
	linger   time.Duration
	agent    *agent
	mu       sync.Mutex
	attached int
	ended    bool
	left     chan struct{}
	timer    *time.Timer
}

// sessionTable maps a name to nil while its shell starts, which reserves the name.
type sessionTable struct {
	tableMu  sync.Mutex
	settled  sync.Cond
	sessions map[string]*session
}

func newSessionTable() *sessionTable {
	table := &sessionTable{sessions: map[string]*session{}}
	table.settled.L = &table.tableMu
	return table
}

func (a *agent) reserve(id string) *failure {
	a.tableMu.Lock()
	defer a.tableMu.Unlock()
	if len(id) > 64 {
		return fail("INVALID_SESSION", "a session ID must have at most 64 bytes")
	}
	if _, taken := a.sessions[id]; taken {
		return fail("SESSION_EXISTS", "session "+id+" exists")
	}
	if len(a.sessions) >= maxSessions {
		return fail("LIMIT_REACHED", "too many sessions in this sandbox")
	}
	a.sessions[id] = nil
	return nil
}

func (a *agent) release(id string) {
	a.tableMu.Lock()
	delete(a.sessions, id)
	a.settled.Broadcast()
	a.tableMu.Unlock()
}

func (a *agent) keep(r *request, t *terminal) *session {
	linger := time.Duration(r.Linger) * time.Millisecond
	if linger <= 0 {
		linger = defaultLinger
	}
	s := &session{id: r.Session, terminal: t, started: time.Now(), linger: min(linger, maxLinger), agent: a,
		left: make(chan struct{})}
	a.tableMu.Lock()
	a.sessions[r.Session] = s
	a.settled.Broadcast()
	a.tableMu.Unlock()
	return s
}

// find waits for a session that is starting: it neither exists nor is its name free.
func (a *agent) find(id string) *session {
	a.tableMu.Lock()
	defer a.tableMu.Unlock()
	for {
		found, known := a.sessions[id]
		if found != nil || !known {
			return found
		}
		a.settled.Wait()
	}
}

func (a *agent) attachSession(s *stream, r *request) (any, *failure) {
	found := a.find(r.Session)
	if found == nil {
		return nil, fail("NO_SUCH_SESSION", "no session "+r.Session)
	}
	if r.Tty != nil {
		found.terminal.resize(clamp(*r.Tty))
	}
	return found.serve(s, r.Since)
}

// serve counts readers. When the last one leaves, the linger time starts. A session whose shell has exited ends with
// its last reader.
func (s *session) serve(to *stream, since *uint64) (any, *failure) {
	s.mu.Lock()
	s.attached++
	if s.timer != nil {
		s.timer.Stop()
	}
	s.mu.Unlock()
	result, failed := s.terminal.serve(to, since)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attached--
	if failed == nil && !s.ended {
		s.ended = true
		s.leave()
	} else if s.attached == 0 && !s.ended {
		s.timer = time.AfterFunc(s.linger, s.end)
	}
	return result, failed
}

func (s *session) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.ended = true
		s.leave()
	}
}

// leave must be called once: the ID may belong to another session afterwards.
func (s *session) leave() {
	s.agent.release(s.id)
	close(s.left)
	go s.terminal.hangUp()
}

func (a *agent) killSession(r *request) (any, *failure) {
	found := a.find(r.Session)
	if found == nil {
		return nil, fail("NO_SUCH_SESSION", "no session "+r.Session)
	}
	found.end()
	return map[string]any{}, nil
}

func (a *agent) listSessions() any {
	a.tableMu.Lock()
	defer a.tableMu.Unlock()
	list := make([]map[string]any, 0, len(a.sessions))
	for id, s := range a.sessions {
		if s == nil {
			continue
		}
		s.mu.Lock()
		attached := s.attached
		s.mu.Unlock()
		s.terminal.mu.Lock()
		size := s.terminal.size
		s.terminal.mu.Unlock()
		exited := false
		select {
		case <-s.terminal.exited:
			exited = true
		default:
		}
		list = append(list, map[string]any{
			"session": id, "pid": s.terminal.pid, "path": s.terminal.path, "attached": attached, "exited": exited,
			"cols": size.Cols, "rows": size.Rows, "started_at": s.started.UTC().Format(time.RFC3339Nano),
		})
	}
	return map[string]any{"sessions": list}
}
