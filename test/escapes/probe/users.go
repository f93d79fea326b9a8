package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

const (
	capabilityVersion = 0x02000000
	capabilityActive  = 1
	chown             = 1 // CAP_CHOWN, which sandboxes have
	fuseDevice        = 10<<8 | 229
)

var userAttacks = map[string]attack{
	// holds-capability: in any of the sets that a program can use or pass on.
	"holds-capability": func([]string) error {
		var attempts []error
		for _, name := range []string{"CapEff", "CapPrm", "CapInh", "CapAmb"} {
			attempts = append(attempts, status(name, func(value uint64) bool { return value != 0 }))
		}
		return anyOf(attempts...)
	},
	// file-capability FOLDER: a program of root whose file grants a capability, run by somebody else.
	"file-capability": func(arguments []string) error {
		content, err := os.ReadFile("/proc/self/exe")
		if err != nil {
			return err
		}
		path := arguments[0] + "/probe-file-capability"
		defer os.Remove(path)
		if err := os.WriteFile(path, content, 0o755); err != nil {
			return err
		}
		value := make([]byte, 20)
		binary.LittleEndian.PutUint32(value, capabilityVersion|capabilityActive)
		binary.LittleEndian.PutUint32(value[4:], 1<<chown)
		if err := syscall.Setxattr(path, "security.capability", value, 0); err != nil {
			return fmt.Errorf("set the capability: %w", err)
		}
		child := exec.Command(path, "holds-capability")
		child.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 1000, Gid: 1000}}
		child.Dir = "/"
		return child.Run()
	},
	"become-root": func([]string) error {
		return anyOf(syscall.Setresuid(0, 0, 0), syscall.Setresgid(0, 0, 0), syscall.Setgroups([]int{0}))
	},
	// group NUMBER: is one of this process.
	"group": func(arguments []string) error {
		groups, err := syscall.Getgroups()
		if err != nil {
			return err
		}
		for _, each := range append(groups, syscall.Getgid(), syscall.Getegid()) {
			if each == numberOf(arguments) {
				return nil
			}
		}
		return fmt.Errorf("its groups are %v", groups)
	},
	// fuse: any way to the device that file systems of user space are served on, or to the control of one.
	"fuse": func([]string) error {
		node := "/tmp/probe-fuse"
		defer os.Remove(node)
		made := syscall.Mknod(node, syscall.S_IFCHR|0o600, fuseDevice)
		if made == nil {
			made = opens(node, syscall.O_RDWR)
		}
		return anyOf(made, opens("/dev/fuse", syscall.O_RDWR), fuseControl())
	},
	// tells TEXT...: the kernel shows any of them as the source of a mount, the name of a socket, or a setting of a process.
	"tells": func(texts []string) error {
		for _, path := range []string{"/proc/self/mountinfo", "/proc/mounts", "/proc/net/unix", "/proc/self/environ", "/proc/1/cmdline"} {
			content, _ := os.ReadFile(path)
			for _, text := range texts {
				if strings.Contains(string(content), text) {
					return nil
				}
			}
		}
		return errors.New("nothing of it")
	},
}

func fuseControl() error {
	entries, err := os.ReadDir("/sys/fs/fuse/connections")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if err = opens("/sys/fs/fuse/connections/"+entry.Name()+"/waiting", syscall.O_RDONLY); err == nil {
			return nil
		}
	}
	return errors.Join(errors.New("no connection"), err)
}
