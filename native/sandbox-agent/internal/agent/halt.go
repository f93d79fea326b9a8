package agent

import (
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"svc.dev/sandbox-agent/internal/limits"
)

const (
	// killGrace is how long killed processes may take to disappear.
	killGrace = 10 * time.Second
	// maxHaltGrace bounds a mistaken argument.
	maxHaltGrace = time.Hour
)

// Halt ends every process of a sandbox except the helper, for an engine that cannot stop a container and keep its
// files. The engine starts it inside the sandbox. The argument is the grace period in milliseconds, after which the
// remaining processes are killed.
func Halt(arguments []string) int {
	if len(arguments) != 1 {
		os.Stderr.WriteString("usage: sandbox-agent halt GRACE-MS\n")
		return 2
	}
	graceMs, err := strconv.ParseInt(arguments[0], 10, 64)
	grace := time.Duration(graceMs) * time.Millisecond
	if err != nil || graceMs < 0 || grace > maxHaltGrace {
		os.Stderr.WriteString("sandbox-agent: the grace period must be a number of milliseconds, at most one hour\n")
		return 2
	}
	// Never end every process of a machine: only in a sandbox does a process started by the engine have no visible
	// parent.
	if os.Getppid() != 0 || os.Getpid() == 1 {
		os.Stderr.WriteString("sandbox-agent: halt must be started by an engine inside a sandbox\n")
		return 1
	}
	hideFromSandbox()
	if err := limits.Apply(false); err != nil {
		os.Stderr.WriteString("sandbox-agent: the limits of the sandbox: " + err.Error() + "\n")
		return 1
	}
	signalOthers()
	if waitAlone(grace) {
		return 0
	}
	for deadline := time.Now().Add(killGrace); time.Now().Before(deadline); {
		_ = unix.Kill(-1, unix.SIGKILL) // again, for processes forked in the meantime
		if waitAlone(shutdownPoll) {
			return 0
		}
	}
	return 1
}

// waitAlone reports whether all other processes ended within the time limit.
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
