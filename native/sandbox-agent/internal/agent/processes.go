package agent

import (
	"sort"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// process is a process that the platform started, with pipes or on a terminal.
type process struct {
	pid      int
	request  *request
	cwd      string
	started  time.Time
	piped    *piped
	terminal *terminal
	// gone is closed when the process is removed from the table.
	gone chan struct{}
}

func (p *process) input() *chunkWriter {
	if p.terminal != nil {
		return &p.terminal.input
	}
	return &p.piped.input
}

// processTable holds the running processes that the platform started.
type processTable struct {
	mu    sync.Mutex
	byPid map[int]*process
}

func newProcessTable() *processTable { return &processTable{byPid: map[int]*process{}} }

// add keeps the process until `over` is closed.
func (t *processTable) add(p *process, over <-chan struct{}) {
	p.started, p.gone = time.Now(), make(chan struct{})
	t.mu.Lock()
	t.byPid[p.pid] = p
	t.mu.Unlock()
	go func() {
		<-over
		t.mu.Lock()
		if t.byPid[p.pid] == p { // the PID may have been reused
			delete(t.byPid, p.pid)
		}
		t.mu.Unlock()
		close(p.gone)
	}()
}

// find looks up a process by PID, or else by tag. The newest process with a tag wins.
func (t *processTable) find(r *request) (*process, *failure) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r.Pid != 0 {
		if found := t.byPid[r.Pid]; found != nil {
			return found, nil
		}
		return nil, noSuchProcess()
	}
	var newest *process
	for _, each := range t.byPid {
		if r.Tag != "" && each.request.Tag == r.Tag && (newest == nil || each.started.After(newest.started)) {
			newest = each
		}
	}
	if newest == nil {
		return nil, noSuchProcess()
	}
	return newest, nil
}

func noSuchProcess() *failure {
	return fail("NO_SUCH_PROCESS", "no running process with this PID or tag was started here")
}

func (a *agent) listProcesses() any {
	a.processes.mu.Lock()
	defer a.processes.mu.Unlock()
	list := make([]map[string]any, 0, len(a.processes.byPid))
	for _, p := range a.processes.byPid {
		list = append(list, map[string]any{
			"pid": p.pid, "tag": p.request.Tag, "argv": p.request.Argv, "env": p.request.Env, "cwd": p.cwd,
			"tty": p.terminal != nil, "started_at": p.started.UTC().Format(time.RFC3339Nano),
		})
	}
	sort.Slice(list, func(i, j int) bool { return list[i]["pid"].(int) < list[j]["pid"].(int) })
	return map[string]any{"processes": list}
}

// attachProcess adds the stream to a process. It receives output from now on; when it ends, the process continues.
func (a *agent) attachProcess(s *stream, r *request) (any, *failure) {
	found, failed := a.processes.find(r)
	if failed != nil {
		return nil, failed
	}
	if found.terminal != nil {
		return found.terminal.serve(s, nil)
	}
	p := found.piped
	s.event(map[string]any{"type": "started", "pid": p.pid, "path": p.path})
	p.listen(s)
	return p.serve(s)
}

// typeToProcess copies the stream to the process's input and leaves the input open.
func (a *agent) typeToProcess(s *stream, r *request) (any, *failure) {
	found, failed := a.processes.find(r)
	if failed != nil {
		return nil, failed
	}
	if !copyInput(s, found.input()) {
		return nil, fail("INPUT_CLOSED", "the process does not accept input")
	}
	return map[string]any{}, nil
}

func (a *agent) closeInput(r *request) (any, *failure) {
	found, failed := a.processes.find(r)
	if failed != nil {
		return nil, failed
	}
	if found.piped == nil {
		return nil, fail("INVALID_COMMAND", "cannot close the input of a terminal; send ^D instead")
	}
	_ = found.piped.stdin.Close()
	return map[string]any{}, nil
}

func (a *agent) signalProcess(r *request) (any, *failure) {
	signal, known := signals[r.Signal]
	if !known {
		return nil, fail("INVALID_COMMAND", "unknown signal "+r.Signal)
	}
	found, failed := a.processes.find(r)
	if failed != nil {
		return nil, failed
	}
	if found.terminal == nil {
		found.piped.signal(signal)
	} else if signal == unix.SIGKILL || signal == unix.SIGTERM || signal == unix.SIGHUP {
		// Sent to the shell itself: its foreground job is hung up with it.
		select {
		case <-found.terminal.exited:
		default:
			_ = unix.Kill(-found.pid, signal)
		}
	} else {
		found.terminal.signal(signal)
	}
	if signal == unix.SIGKILL { // a killed process is gone when the call returns
		select {
		case <-found.gone:
		case <-time.After(killDelay):
		}
	}
	return map[string]any{}, nil
}

func (a *agent) resizeProcess(r *request) (any, *failure) {
	found, failed := a.processes.find(r)
	if failed != nil {
		return nil, failed
	}
	if found.terminal == nil || r.Tty == nil {
		return nil, fail("INVALID_COMMAND", "the process has no terminal")
	}
	found.terminal.resize(clamp(*r.Tty))
	return map[string]any{}, nil
}
