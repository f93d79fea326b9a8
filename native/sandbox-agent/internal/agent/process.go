package agent

import (
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"svc.dev/sandbox-agent/internal/frame"
)

const (
	// Children are killed before PID 1 when the sandbox runs out of memory.
	childOomScore = "500"
	killDelay     = 2 * time.Second
	pipeChunk     = 32 << 10
)

// exitResult is the result in the end frame of a process.
type exitResult struct {
	ExitCode int     `json:"exit_code"`
	Signal   *string `json:"signal"`
}

func resultOf(status unix.WaitStatus) exitResult {
	if status.Signaled() {
		name := signalName(status.Signal())
		return exitResult{ExitCode: 128 + int(status.Signal()), Signal: &name}
	}
	return exitResult{ExitCode: status.ExitStatus()}
}

func (a *agent) startProcess(s *stream, r *request) (any, *failure) {
	spec, failed := resolveCommand(r)
	if failed != nil {
		return nil, failed
	}
	if r.Tty != nil {
		return a.startTerminal(s, r, spec)
	}
	return a.runWithPipes(s, r, spec)
}

func (a *agent) spawn(spec *command, files []uintptr, attr *unix.SysProcAttr) (int, <-chan unix.WaitStatus, *failure) {
	a.pauser.spawning.RLock()
	defer a.pauser.spawning.RUnlock()
	pid, done, err := a.reaper.Start(spec.path, spec.argv, &syscall.ProcAttr{Dir: spec.cwd, Env: spec.env, Files: files, Sys: attr})
	if err != nil {
		return 0, nil, fromError(err)
	}
	_ = os.WriteFile("/proc/"+strconv.Itoa(pid)+"/oom_score_adj", []byte(childOomScore), 0)
	return pid, done, nil
}

// runWithPipes runs a command without a terminal. The command ends with its stream unless it is detached.
func (a *agent) runWithPipes(s *stream, r *request, spec *command) (any, *failure) {
	p, done, failed := a.startPiped(s, spec)
	if failed != nil {
		return nil, failed
	}
	// Registered before the PID is announced, so that clients can find the process by it.
	a.processes.add(&process{pid: p.pid, request: r, cwd: spec.cwd, piped: p}, p.finished)
	s.event(map[string]any{"type": "started", "pid": p.pid, "path": spec.path})
	go p.run(done)
	killLater(p.pid, r.Timeout, p.exited)
	if !r.Detached {
		go p.killOnAbort(s)
	}
	go func() {
		if copyInput(s, &p.input) || !r.Detached {
			_ = p.stdin.Close()
		}
	}()
	return p.serve(s)
}

// killLater kills the process group at its timeout, whether or not a client is attached.
func killLater(pid, timeoutMs int, exited <-chan struct{}) {
	if timeoutMs <= 0 {
		return
	}
	go func() {
		over := time.NewTimer(time.Duration(timeoutMs) * time.Millisecond)
		defer over.Stop()
		select {
		case <-exited:
		case <-over.C:
			_ = unix.Kill(-pid, unix.SIGKILL)
		}
	}()
}

// copyInput returns true at the end of input, and false if the stream ended or the process accepts no more.
func copyInput(s *stream, to *chunkWriter) bool {
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-s.done:
			to.wake()
		case <-over:
		}
	}()
	for {
		payload, aborted := s.in.next()
		if payload == nil || aborted {
			return !aborted
		}
		if !to.write(s, payload[1:]) {
			return false
		}
		s.grant(len(payload))
		frame.Recycle(payload)
	}
}

// readNow reads available bytes without waiting; Go's own Read fails once a deadline has passed.
func readNow(file *os.File, p []byte) int {
	raw, err := file.SyscallConn()
	if err != nil {
		return 0
	}
	n := 0
	_ = raw.Control(func(fd uintptr) {
		for {
			var failed error
			n, failed = unix.Read(int(fd), p)
			if failed != unix.EINTR {
				return
			}
		}
	})
	return max(n, 0)
}

// pipe returns our end, served by the poller, and the child's end, which is blocking as programs expect.
func pipe(toChild bool) (ours *os.File, child *os.File, err error) {
	var ends [2]int
	if err = unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, err
	}
	mine, theirs := ends[0], ends[1]
	if toChild {
		mine, theirs = ends[1], ends[0]
	}
	_ = unix.SetNonblock(mine, true)
	return os.NewFile(uintptr(mine), "pipe"), os.NewFile(uintptr(theirs), "pipe"), nil
}
