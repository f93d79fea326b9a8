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

// terminateAll sends SIGTERM to every process of the sandbox and waits for them to exit. The kernel kills the rest when
// PID 1 exits. Interactive shells ignore SIGTERM, so processes that ignore it get SIGHUP as well.
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

// eachOther visits every process except the helper and this one, until visit returns false.
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
