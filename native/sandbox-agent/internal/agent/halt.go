package agent

import (
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// killGrace is how long killed processes may take to disappear.
	killGrace = 10 * time.Second
	// maxHaltGrace keeps a mistaken argument from waiting for ever.
	maxHaltGrace = time.Hour
)

// Halt ends every process of a sandbox but the helper, for an engine that cannot stop a container and start it again
// with its files. The engine starts it inside. Its argument is how long processes may take to end by themselves, in
// milliseconds; what stays is killed.
func Halt(arguments []string) int {
	if len(arguments) != 1 {
		os.Stderr.WriteString("usage: sandbox-agent halt GRACE-MS\n")
		return 2
	}
	graceMs, err := strconv.ParseInt(arguments[0], 10, 64)
	grace := time.Duration(graceMs) * time.Millisecond
	if err != nil || graceMs < 0 || grace > maxHaltGrace {
		os.Stderr.WriteString("sandbox-agent: the grace is no number of milliseconds up to an hour\n")
		return 2
	}
	// "Every other process" must never mean a whole machine: only in a sandbox has the engine's process no parent.
	if os.Getppid() != 0 || os.Getpid() == 1 {
		os.Stderr.WriteString("sandbox-agent: halt is started by an engine inside a sandbox only\n")
		return 1
	}
	hideFromSandbox()
	signalOthers()
	if waitAlone(grace) {
		return 0
	}
	for deadline := time.Now().Add(killGrace); time.Now().Before(deadline); {
		_ = unix.Kill(-1, unix.SIGKILL) // again, for what was forked meanwhile
		if waitAlone(shutdownPoll) {
			return 0
		}
	}
	return 1
}

// waitAlone says whether only the helper and this process are left within the time.
func waitAlone(limit time.Duration) bool {
	for deadline := time.Now().Add(limit); ; time.Sleep(shutdownPoll) {
		if !othersAlive() {
			return true
		}
		if !time.Now().Before(deadline) {
			return false
		}
	}
}
