package boot

import (
	"errors"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"svc.dev/sandbox-agent/internal/kernel"
)

// Named, because entry uses them.
const (
	prCapbsetDrop   = unix.PR_CAPBSET_DROP
	prSetNoNewPrivs = unix.PR_SET_NO_NEW_PRIVS
	prCapAmbient    = unix.PR_CAP_AMBIENT
	ambientClearAll = unix.PR_CAP_AMBIENT_CLEAR_ALL
	cloneNewCgroup  = unix.CLONE_NEWCGROUP
	maxCapability   = 63
)

var capabilityNumbers = map[string]uint{
	"CAP_CHOWN": unix.CAP_CHOWN, "CAP_DAC_OVERRIDE": unix.CAP_DAC_OVERRIDE, "CAP_FOWNER": unix.CAP_FOWNER,
	"CAP_FSETID": unix.CAP_FSETID, "CAP_KILL": unix.CAP_KILL, "CAP_SETGID": unix.CAP_SETGID, "CAP_SETUID": unix.CAP_SETUID,
	"CAP_SETPCAP": unix.CAP_SETPCAP, "CAP_NET_BIND_SERVICE": unix.CAP_NET_BIND_SERVICE, "CAP_SYS_CHROOT": unix.CAP_SYS_CHROOT,
	"CAP_AUDIT_WRITE": unix.CAP_AUDIT_WRITE, "CAP_SETFCAP": unix.CAP_SETFCAP,
}

// Restrict permanently drops the privileges that no sandbox may have from every thread, installs the filter of system
// calls, an array of struct sock_filter, and verifies the result.
func Restrict(capabilities []string, filter []byte) error {
	kept := uint64(0)
	for _, name := range capabilities {
		number, known := capabilityNumbers[name]
		if !known {
			return errors.New("unknown capability " + name)
		}
		kept |= 1 << number
	}
	for number := uintptr(0); number <= maxCapability; number++ {
		has, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, number, 0, 0, 0)
		if err != nil || has == 0 || kept&(1<<number) != 0 {
			continue
		}
		if err := kernel.AllThreads(unix.SYS_PRCTL, prCapbsetDrop, number); err != nil {
			return failed("drop a capability", err)
		}
	}
	if entered == 0 {
		// gVisor's kernel has no ambient capabilities.
		if err := kernel.AllThreads(unix.SYS_PRCTL, prCapAmbient, ambientClearAll); err != nil && err != unix.EINVAL {
			return failed("clear ambient capabilities", err)
		}
		if err := kernel.AllThreads(unix.SYS_PRCTL, prSetNoNewPrivs, 1); err != nil {
			return failed("set no_new_privs", err)
		}
	}
	if err := kernel.Capset(kept); err != nil {
		return failed("set capabilities", err)
	}
	if len(filter) == 0 || len(filter)%unix.SizeofSockFilter != 0 {
		return errors.New("there is no seccomp filter")
	}
	if err := kernel.Filter(filter); err != nil {
		return failed("install the seccomp filter", err)
	}
	return verify(kept)
}

// verify reads the state of each thread from the kernel: a thread with leftover privileges would pass them on to its
// children.
func verify(kept uint64) error {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return failed("list threads", err)
	}
	set, none := hex(kept), hex(0)
	proofs := []string{"CapInh:\t" + none, "CapPrm:\t" + set, "CapEff:\t" + set, "CapBnd:\t" + set, "Seccomp:\t2"}
	// gVisor's kernel shows neither: it has no ambient capabilities, and no program gains privileges.
	shownByLinux := []string{"CapAmb:\t" + none, "NoNewPrivs:\t1"}
	for _, thread := range threads {
		content, err := os.ReadFile("/proc/self/task/" + thread.Name() + "/status")
		if err != nil {
			return failed("read the status of a thread", err)
		}
		status := "\n" + string(content)
		for _, line := range proofs {
			if !strings.Contains(status, "\n"+line+"\n") {
				return errors.New("a thread kept privileges: " + line)
			}
		}
		for _, line := range shownByLinux {
			label, _, _ := strings.Cut(line, "\t")
			if strings.Contains(status, "\n"+label) && !strings.Contains(status, "\n"+line+"\n") {
				return errors.New("a thread kept privileges: " + line)
			}
		}
	}
	return nil
}

// hex formats a set as /proc shows it.
func hex(set uint64) string {
	const digits = "0123456789abcdef"
	out := make([]byte, 16)
	for index := range out {
		out[15-index] = digits[set>>(4*index)&0xf]
	}
	return string(out)
}
