package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// Each takes an amount and succeeds when it could have that much; what it took is given back.
var resourceAttacks = map[string]attack{
	"take-processes": func(arguments []string) error {
		var children []*exec.Cmd
		defer func() {
			for _, child := range children {
				_ = child.Process.Kill()
				_ = child.Wait()
			}
		}()
		for range numberOf(arguments) {
			child := exec.Command("/bin/sleep", "60")
			if err := child.Start(); err != nil {
				return err
			}
			children = append(children, child)
		}
		return nil
	},
	"take-memory": func(arguments []string) error {
		size := numberOf(arguments) << 20
		region, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err != nil {
			return err
		}
		for at := 0; at < size; at += 4096 {
			region[at] = 1
		}
		return syscall.Munmap(region)
	},
	// take-bytes MIB FOLDER: in one file.
	"take-bytes": func(arguments []string) error {
		path := arguments[1] + "/probe-bytes"
		file, err := os.Create(path)
		if err != nil {
			return err
		}
		defer os.Remove(path)
		defer file.Close()
		piece := make([]byte, 1<<20)
		for index := range piece {
			piece[index] = byte(index * 7)
		}
		for range numberOf(arguments) {
			if _, err := file.Write(piece); err != nil {
				return err
			}
		}
		return file.Sync()
	},
	// take-files COUNT FOLDER: empty ones.
	"take-files": func(arguments []string) error {
		folder := arguments[1] + "/probe-files"
		defer os.RemoveAll(folder)
		for index := range numberOf(arguments) {
			if index%1000 == 0 {
				if err := os.MkdirAll(folder+"/"+strconv.Itoa(index/1000), 0o755); err != nil {
					return err
				}
			}
			path := fmt.Sprintf("%s/%d/%d", folder, index/1000, index)
			fd, err := syscall.Open(path, syscall.O_CREAT|syscall.O_WRONLY, 0o600)
			if err != nil {
				return fmt.Errorf("file %d: %w", index, err)
			}
			_ = syscall.Close(fd)
		}
		return nil
	},
	"take-descriptors": func(arguments []string) error {
		var taken []int
		defer func() {
			for _, fd := range taken {
				_ = syscall.Close(fd)
			}
		}()
		limit := syscall.Rlimit{Cur: 1 << 20, Max: 1 << 20}
		_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
		for range numberOf(arguments) {
			fd, err := syscall.Open("/dev/null", syscall.O_RDONLY, 0)
			if err != nil {
				return fmt.Errorf("after %d: %w", len(taken), err)
			}
			taken = append(taken, fd)
		}
		return nil
	},
}
