// Package agent is the job inside a sandbox: PID 1 that owns its processes and serves them, and its files, to the
// platform over the framed connection of PROTOCOL.md. It never listens on anything that the sandbox could reach: the
// listening socket is inherited as descriptor 3 and has its name outside.
package agent

import (
	"os"
	"os/signal"
	"runtime/debug"
	"sync/atomic"
	"syscall"

	"svc.dev/sandbox-agent/internal/reap"
)

const (
	listenFd = 3
	// Old connections of a platform that was killed end by themselves; more than this many at once is a fault.
	maxConnections = 4
	memoryGoal     = 24 << 20
)

// Run serves until SIGTERM or a shutdown request, and answers the exit code of the sandbox's PID 1.
func Run() int {
	if os.Getpid() != 1 { // ending "every other process" must never mean a whole machine
		os.Stderr.WriteString("sandbox-agent: init runs as PID 1 of a sandbox only\n")
		return 1
	}
	debug.SetGCPercent(50)
	debug.SetMemoryLimit(memoryGoal)
	hideFromSandbox()
	syscall.CloseOnExec(listenFd)
	if err := syscall.SetNonblock(listenFd, false); err != nil {
		os.Stderr.WriteString("sandbox-agent: no socket was inherited as descriptor 3\n")
		return 1
	}
	a := &agent{reaper: reap.New(), sessionTable: newSessionTable(), quit: make(chan struct{})}
	terminate := make(chan os.Signal, 1)
	signal.Notify(terminate, syscall.SIGTERM)
	go a.accept()
	select {
	case <-terminate:
	case <-a.quit:
	}
	a.terminateAll()
	return 0
}

type agent struct {
	reaper      *reap.Reaper
	connections atomic.Int32
	*sessionTable
	quit chan struct{}
	once atomic.Bool
}

func (a *agent) shutdown() {
	if a.once.CompareAndSwap(false, true) {
		close(a.quit)
	}
}

func (a *agent) accept() {
	for {
		fd, _, err := syscall.Accept4(listenFd, syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK)
		if err == syscall.EINTR || err == syscall.ECONNABORTED {
			continue
		}
		if err != nil {
			a.shutdown()
			return
		}
		if a.connections.Add(1) > maxConnections {
			a.connections.Add(-1)
			_ = syscall.Close(fd)
			continue
		}
		go func() {
			defer a.connections.Add(-1)
			a.serve(os.NewFile(uintptr(fd), "platform"))
		}()
	}
}

// hideFromSandbox makes this process not dumpable: others of the same user may neither trace it nor open its
// descriptors under /proc.
func hideFromSandbox() {
	const prSetDumpable = 4
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, prSetDumpable, 0, 0)
}
