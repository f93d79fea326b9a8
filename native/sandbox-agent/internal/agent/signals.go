package agent

import "golang.org/x/sys/unix"

// signals maps the signal names of the API.
var signals = map[string]unix.Signal{
	"SIGHUP": unix.SIGHUP, "SIGINT": unix.SIGINT, "SIGQUIT": unix.SIGQUIT, "SIGKILL": unix.SIGKILL,
	"SIGTERM": unix.SIGTERM, "SIGUSR1": unix.SIGUSR1, "SIGUSR2": unix.SIGUSR2, "SIGSTOP": unix.SIGSTOP,
	"SIGCONT": unix.SIGCONT, "SIGTSTP": unix.SIGTSTP, "SIGWINCH": unix.SIGWINCH,
}

var otherNames = map[unix.Signal]string{
	unix.SIGSEGV: "SIGSEGV", unix.SIGABRT: "SIGABRT", unix.SIGBUS: "SIGBUS", unix.SIGFPE: "SIGFPE",
	unix.SIGILL: "SIGILL", unix.SIGPIPE: "SIGPIPE", unix.SIGALRM: "SIGALRM", unix.SIGSYS: "SIGSYS",
	unix.SIGTRAP: "SIGTRAP", unix.SIGXCPU: "SIGXCPU", unix.SIGXFSZ: "SIGXFSZ",
}

func signalName(signal unix.Signal) string {
	for name, value := range signals {
		if value == signal {
			return name
		}
	}
	if name, known := otherNames[signal]; known {
		return name
	}
	return signal.String()
}
