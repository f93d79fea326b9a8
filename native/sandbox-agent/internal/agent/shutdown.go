package agent

import (
	"os"
	"strconv"
	"syscall"
	"time"
)

const (
	shutdownGrace = 8 * time.Second
	shutdownPoll  = 10 * time.Millisecond
)

// terminateAll asks every process of the sandbox to end and waits for it. What stays is killed by the kernel when PID 1
// returns. Shells ignore SIGTERM when interactive, so their lines are hung up too.
func (a *agent) terminateAll() {
	_ = syscall.Kill(-1, syscall.SIGTERM)
	_ = syscall.Kill(-1, syscall.SIGHUP)
	_ = syscall.Kill(-1, syscall.SIGCONT)
	for deadline := time.Now().Add(shutdownGrace); time.Now().Before(deadline); time.Sleep(shutdownPoll) {
		if !othersAlive() {
			return
		}
	}
}

func othersAlive() bool {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return false
	}
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil && pid != 1 {
			return true
		}
	}
	return false
}
