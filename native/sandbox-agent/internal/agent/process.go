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
	// Children are killed before PID 1 when the sandbox's memory ends.
	childOomScore = "500"
	killDelay     = 2 * time.Second
	pipeChunk     = 32 << 10
)

// exitResult is the result half of the end frame of a process.
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
	return a.runWithPipes(s, spec)
}

func (a *agent) spawn(spec *command, files []uintptr, attr *unix.SysProcAttr) (int, <-chan unix.WaitStatus, *failure) {
	pid, done, err := a.reaper.Start(spec.path, spec.argv, &syscall.ProcAttr{Dir: spec.cwd, Env: spec.env, Files: files, Sys: attr})
	if err != nil {
		return 0, nil, fromError(err)
	}
	_ = os.WriteFile("/proc/"+strconv.Itoa(pid)+"/oom_score_adj", []byte(childOomScore), 0)
	return pid, done, nil
}

// runWithPipes is one command without a terminal: stdout and stderr apart, in the order of arrival.
func (a *agent) runWithPipes(s *stream, spec *command) (any, *failure) {
	stdin, stdinChild, err := pipe(true)
	if err != nil {
		return nil, fromError(err)
	}
	defer stdin.Close()
	stdout, stdoutChild, err := pipe(false)
	if err != nil {
		_ = stdinChild.Close()
		return nil, fromError(err)
	}
	defer stdout.Close()
	stderr, stderrChild, err := pipe(false)
	if err != nil {
		_ = stdinChild.Close()
		_ = stdoutChild.Close()
		return nil, fromError(err)
	}
	defer stderr.Close()
	pid, done, failed := a.spawn(spec, []uintptr{stdinChild.Fd(), stdoutChild.Fd(), stderrChild.Fd()}, &unix.SysProcAttr{Setsid: true})
	_, _, _ = stdinChild.Close(), stdoutChild.Close(), stderrChild.Close()
	if failed != nil {
		return nil, failed
	}
	s.event(map[string]any{"type": "started", "pid": pid, "path": spec.path})
	go func() {
		copyInput(s, stdin)
		_ = stdin.Close()
	}()
	exited := make(chan struct{})
	finished := make(chan struct{}, 2)
	go func() { pumpPipe(s, channelStdout, stdout); finished <- struct{}{} }()
	go func() { pumpPipe(s, channelStderr, stderr); finished <- struct{}{} }()
	go killOnAbort(s, pid, exited)
	obeySignals(s, pid, exited)
	status := <-done
	close(exited)
	// What the command wrote is in the pipes already; a child that it left behind may hold them open for ever.
	_ = stdout.SetReadDeadline(time.Now())
	_ = stderr.SetReadDeadline(time.Now())
	<-finished
	<-finished
	return resultOf(status), nil
}

// killOnAbort ends the command's process group when nobody listens any more.
func killOnAbort(s *stream, pid int, exited <-chan struct{}) {
	select {
	case <-exited:
		return
	case <-s.done:
	}
	_ = unix.Kill(-pid, unix.SIGTERM)
	select {
	case <-exited:
	case <-time.After(killDelay):
		_ = unix.Kill(-pid, unix.SIGKILL)
	}
}

func obeySignals(s *stream, pid int, exited <-chan struct{}) {
	s.onControl(func(message controlMessage) {
		signal, known := signals[message.Name]
		if !known || message.Type != "signal" {
			return
		}
		select {
		case <-exited:
		default:
			_ = unix.Kill(-pid, signal)
		}
	})
}

func copyInput(s *stream, to *os.File) {
	for {
		payload, aborted := s.in.next()
		if payload == nil || aborted {
			return
		}
		if _, err := to.Write(payload[1:]); err != nil {
			return
		}
		s.grant(len(payload))
		frame.Recycle(payload)
	}
}

func pumpPipe(s *stream, channel byte, from *os.File) {
	buffer := make([]byte, dataHead+pipeChunk)
	for {
		n, err := from.Read(buffer[dataHead:])
		if n > 0 && !s.sendData(channel, buffer, n) {
			return
		}
		if os.IsTimeout(err) {
			for n := readNow(from, buffer[dataHead:]); n > 0 && s.sendData(channel, buffer, n); {
				n = readNow(from, buffer[dataHead:])
			}
			return
		}
		if err != nil {
			return
		}
	}
}

// readNow reads what is there without waiting; Go's own Read refuses once a deadline has passed.
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

// pipe gives our end (served by the poller) and the child's end (blocking, as programs expect).
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
