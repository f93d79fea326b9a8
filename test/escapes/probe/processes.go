package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

var processAttacks = map[string]attack{
	// trace PID, or trace child.
	"trace": func(arguments []string) error {
		pid := numberOf(arguments)
		if pid == 0 {
			child := exec.Command("/proc/self/exe", "sleep")
			if err := child.Start(); err != nil {
				return err
			}
			defer func() { _, _ = child.Process.Kill(), child.Wait }()
			pid = child.Process.Pid
		}
		return syscall.PtraceAttach(pid)
	},
	// trace-newcomers FILE: any process that comes from outside, as soon as it appears, until the file exists.
	"trace-newcomers": func(arguments []string) error {
		seen := map[int]bool{}
		for {
			for _, pid := range newcomers() {
				seen[pid] = true
				if err := syscall.PtraceAttach(pid); err == nil {
					return nil
				}
			}
			if _, err := os.Stat(arguments[0]); err == nil {
				return fmt.Errorf("none of %d", len(seen))
			}
		}
	},
	"sleep": func([]string) error { select {} },
	"kill":  func(arguments []string) error { return syscall.Kill(numberOf(arguments), syscall.SIGKILL) },
	// privileges: whether a program may gain some.
	"privileges": func([]string) error { return status("NoNewPrivs", func(value uint64) bool { return value == 0 }) },
	// unfiltered: whether every system call is let through.
	"unfiltered": func([]string) error { return status("Seccomp", func(value uint64) bool { return value != 2 }) },
	// capabilities NUMBER...: whether any of them can be had.
	"capabilities": func(arguments []string) error {
		return status("CapBnd", func(value uint64) bool {
			for _, each := range arguments {
				if number, err := strconv.Atoi(each); err == nil && value>>number&1 == 1 {
					return true
				}
			}
			return false
		})
	},
	// set-uid FOLDER: a program of root with the bit, run by somebody else.
	"set-uid": func(arguments []string) error {
		content, err := os.ReadFile("/proc/self/exe")
		if err != nil {
			return err
		}
		path := arguments[0] + "/probe-set-uid"
		defer os.Remove(path)
		if err := errors.Join(os.WriteFile(path, content, 0o755), os.Chmod(path, 0o755|os.ModeSetuid)); err != nil {
			return err
		}
		child := exec.Command(path, "is-root")
		child.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 1000, Gid: 1000}}
		child.Dir = "/"
		return child.Run()
	},
	"is-root": func([]string) error {
		if syscall.Geteuid() != 0 {
			return errors.New("not root")
		}
		return nil
	},
	// type PATH TEXT: into a terminal, as if somebody had typed it.
	"type": func(arguments []string) error {
		terminal, err := os.OpenFile(arguments[0], os.O_RDWR|syscall.O_NOCTTY, 0)
		if err != nil {
			return err
		}
		defer terminal.Close()
		const typeInto = 0x5412 // TIOCSTI
		for _, letter := range []byte(arguments[1]) {
			if _, _, errno := syscall.RawSyscall(syscall.SYS_IOCTL, terminal.Fd(), typeInto, uintptr(unsafe.Pointer(&letter))); errno != 0 {
				return errno
			}
		}
		return nil
	},
}

// newcomers are the processes whose parent is outside, except the first one.
func newcomers() []int {
	var found []int
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == 1 {
			continue
		}
		content, err := os.ReadFile("/proc/" + entry.Name() + "/stat")
		if err != nil {
			continue
		}
		// The name in parentheses may contain anything.
		after := string(content[strings.LastIndexByte(string(content), ')')+1:])
		if fields := strings.Fields(after); len(fields) > 1 && fields[1] == "0" {
			found = append(found, pid)
		}
	}
	return found
}

func numberOf(arguments []string) int {
	if len(arguments) == 0 {
		return 0
	}
	number, _ := strconv.Atoi(arguments[0])
	return number
}

// status reads a number of /proc/self/status: decimal, or hexadecimal where it is a mask.
func status(name string, hostile func(uint64) bool) error {
	content, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(content)) {
		label, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if label != name {
			continue
		}
		number, err := strconv.ParseUint(strings.TrimSpace(value), 16, 64)
		if err == nil && hostile(number) {
			return nil
		}
		return fmt.Errorf("%s is %s", name, strings.TrimSpace(value))
	}
	return errors.New("not told")
}
