// Package reap starts children and collects every exit, including orphans that the kernel reparents to this process:
// neither the PID 1 of a sandbox nor the host launcher (a child subreaper) may leave zombies. os/exec cannot be used
// next to it, since both would collect each other's exits.
package reap

import (
	"os"
	"os/signal"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Reaper owns wait4 for the whole process.
type Reaper struct {
	mu      sync.Mutex
	waiting map[int]chan unix.WaitStatus
}

// New starts collecting. A process has one Reaper, for its lifetime.
func New() *Reaper {
	r := &Reaper{waiting: map[int]chan unix.WaitStatus{}}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGCHLD)
	go func() {
		for range signals {
			r.collect()
		}
	}()
	return r
}

// Start forks on the calling thread, whose namespaces and cgroups the child inherits. The channel delivers one status.
func (r *Reaper) Start(path string, argv []string, attr *syscall.ProcAttr) (int, <-chan unix.WaitStatus, error) {
	// Locked across the fork, so that an exit is never collected before its channel is registered.
	r.mu.Lock()
	defer r.mu.Unlock()
	pid, err := syscall.ForkExec(path, argv, attr)
	if err != nil {
		return 0, nil, err
	}
	done := make(chan unix.WaitStatus, 1)
	r.waiting[pid] = done
	return pid, done, nil
}

func (r *Reaper) collect() {
	for {
		r.mu.Lock()
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG, nil)
		if err == unix.EINTR {
			r.mu.Unlock()
			continue
		}
		if err != nil || pid <= 0 {
			r.mu.Unlock()
			return
		}
		done := r.waiting[pid]
		ended := status.Exited() || status.Signaled()
		if ended {
			delete(r.waiting, pid)
		}
		r.mu.Unlock()
		if done != nil && ended {
			done <- status
		}
	}
}
