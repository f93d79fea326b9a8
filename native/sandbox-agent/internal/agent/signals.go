package agent

import "syscall"

// signals that the platform may send, by the names that its callers use.
var signals = map[string]syscall.Signal{
	"SIGHUP": syscall.SIGHUP, "SIGINT": syscall.SIGINT, "SIGQUIT": syscall.SIGQUIT, "SIGKILL": syscall.SIGKILL,
	"SIGTERM": syscall.SIGTERM, "SIGUSR1": syscall.SIGUSR1, "SIGUSR2": syscall.SIGUSR2, "SIGSTOP": syscall.SIGSTOP,
	"SIGCONT": syscall.SIGCONT, "SIGTSTP": syscall.SIGTSTP, "SIGWINCH": syscall.SIGWINCH,
}

var otherNames = map[syscall.Signal]string{
	syscall.SIGSEGV: "SIGSEGV", syscall.SIGABRT: "SIGABRT", syscall.SIGBUS: "SIGBUS", syscall.SIGFPE: "SIGFPE",
	syscall.SIGILL: "SIGILL", syscall.SIGPIPE: "SIGPIPE", syscall.SIGALRM: "SIGALRM", syscall.SIGSYS: "SIGSYS",
	syscall.SIGTRAP: "SIGTRAP", syscall.SIGXCPU: "SIGXCPU", syscall.SIGXFSZ: "SIGXFSZ",
}

func signalName(signal syscall.Signal) string {
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
