package boot

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"unsafe"
)

const (
	prCapbsetRead    = 23
	prCapbsetDrop    = 24
	prSetNoNewPrivs  = 38
	prCapAmbient     = 47
	ambientClearAll  = 4
	capabilityV3     = 0x20080522
	seccompSetFilter = 1
	filterTsync      = 1
	maxCapability    = 63
)

var capabilityNumbers = map[string]uint{
	"CAP_CHOWN": 0, "CAP_DAC_OVERRIDE": 1, "CAP_FOWNER": 3, "CAP_FSETID": 4, "CAP_KILL": 5, "CAP_SETGID": 6, "CAP_SETUID": 7,
	"CAP_SETPCAP": 8, "CAP_NET_BIND_SERVICE": 10, "CAP_SYS_CHROOT": 18, "CAP_AUDIT_WRITE": 29, "CAP_SETFCAP": 31,
}

// giveUp takes from every thread of this process what no sandbox may have, for good, and looks whether it is gone.
func giveUp(p *Plan) error {
	kept := uint64(0)
	for _, name := range p.Capabilities {
		number, known := capabilityNumbers[name]
		if !known {
			return errors.New("unknown capability " + name)
		}
		kept |= 1 << number
	}
	for number := uintptr(0); number <= maxCapability; number++ {
		if has, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, prCapbsetRead, number, 0); errno != 0 || has == 0 || kept&(1<<number) != 0 {
			continue
		}
		if _, _, errno := syscall.AllThreadsSyscall(syscall.SYS_PRCTL, prCapbsetDrop, number, 0); errno != 0 {
			return failed("drop a capability", errno)
		}
	}
	if entered == 0 {
		if _, _, errno := syscall.AllThreadsSyscall6(syscall.SYS_PRCTL, prCapAmbient, ambientClearAll, 0, 0, 0, 0); errno != 0 {
			return failed("clear ambient capabilities", errno)
		}
		if _, _, errno := syscall.AllThreadsSyscall6(syscall.SYS_PRCTL, prSetNoNewPrivs, 1, 0, 0, 0, 0); errno != 0 {
			return failed("refuse new privileges", errno)
		}
	}
	header := struct {
		version uint32
		pid     int32
	}{version: capabilityV3}
	type sets struct{ effective, permitted, inheritable uint32 }
	low, high := uint32(kept), uint32(kept>>32)
	data := [2]sets{{low, low, 0}, {high, high, 0}}
	if _, _, errno := syscall.AllThreadsSyscall(syscall.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&data)), 0); errno != 0 {
		return failed("set capabilities", errno)
	}
	if len(p.Filter) == 0 || len(p.Filter)%8 != 0 {
		return errors.New("the plan has no filter of system calls")
	}
	program := struct {
		length uint16
		filter unsafe.Pointer
	}{uint16(len(p.Filter) / 8), unsafe.Pointer(&p.Filter[0])}
	if _, _, errno := syscall.RawSyscall(sysSeccomp, seccompSetFilter, filterTsync, uintptr(unsafe.Pointer(&program))); errno != 0 {
		return failed("filter system calls", errno)
	}
	return verify(kept)
}

// verify reads what the kernel says of each thread: one that kept something would hand it on to what it starts.
func verify(kept uint64) error {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return failed("list threads", err)
	}
	set, none := hex(kept), hex(0)
	for _, thread := range threads {
		content, err := os.ReadFile("/proc/self/task/" + thread.Name() + "/status")
		if err != nil {
			return failed("look at a thread", err)
		}
		for _, line := range [...]string{"CapInh:\t" + none, "CapPrm:\t" + set, "CapEff:\t" + set, "CapBnd:\t" + set, "CapAmb:\t" + none,
			"NoNewPrivs:\t1", "Seccomp:\t2"} {
			if !strings.Contains(string(content), "\n"+line+"\n") {
				return errors.New("a thread is not as it must be: " + line)
			}
		}
	}
	return nil
}

// hex is how /proc shows a set.
func hex(set uint64) string {
	const digits = "0123456789abcdef"
	out := make([]byte, 16)
	for index := range out {
		out[15-index] = digits[set>>(4*index)&0xf]
	}
	return string(out)
}
