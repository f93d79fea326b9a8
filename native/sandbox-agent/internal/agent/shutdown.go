package agent

import (
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	shutdownGrace = 8 * time.Second
	shutdownPoll  = 10 * time.Millisecond
)

// terminateAll asks every process of the sandbox to end and waits for it. What stays is killed by the kernel when PID 1
// returns. Interactive shells ignore SIGTERM, so what ignores it is hung up instead; what handles it is left to do so.
func (a *agent) terminateAll() {
	signalOthers()
	for deadline := time.Now().Add(shutdownGrace); time.Now().Before(deadline); time.Sleep(shutdownPoll) {
		if !othersAlive() {
			return
		}
	}
}

func signalOthers() {
	_ = unix.Kill(-1, unix.SIGTERM)
	eachOther(func(pid int) bool {
		if ignoresTermination(pid) {
			_ = unix.Kill(pid, unix.SIGHUP)
		}
		return true
	})
	_ = unix.Kill(-1, unix.SIGCONT)
}

func othersAlive() bool {
	found := false
	eachOther(func(int) bool {
		found = true
		return false
	})
	return found
}

// eachOther visits every process but the helper and this one until it is told that this was enough.
func eachOther(visit func(pid int) bool) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return
	}
	self := os.Getpid()
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil && pid != 1 && pid != self && !visit(pid) {
			return
		}
	}
}

func ignoresTermination(pid int) bool {
	content, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return false
	}
	_, after, found := strings.Cut(string(content), "\nSigIgn:\t")
	mask, _, _ := strings.Cut(after, "\n")
	signals, err := strconv.ParseUint(mask, 16, 64)
	return found && err == nil && signals&(1<<(uint(unix.SIGTERM)-1)) != 0
}
