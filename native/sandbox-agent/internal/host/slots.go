package host

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

const (
	slotFolder = "/run/svc/slots"
	slotCount  = 16_000
)

// slotTable assigns numbers that are unique on this machine, even among several platforms. The number of a running
// sandbox determines its ID range, address and interface name.
type slotTable struct {
	mu   sync.Mutex
	next int
}

func openSlots() (*slotTable, error) {
	if err := os.MkdirAll(slotFolder, 0o711); err != nil {
		return nil, step("make "+slotFolder, err)
	}
	return &slotTable{}, nil
}

// take claims a number for the folder of the sandbox. A claim whose folder no longer exists is void.
func (s *slotTable) take(folder string) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	unlock, err := lockSlots()
	if err != nil {
		return 0, err
	}
	defer unlock()
	for tries := 0; tries < slotCount; tries++ {
		slot := s.next
		s.next = (s.next + 1) % slotCount
		claim := slotFolder + "/" + strconv.Itoa(slot)
		content, err := os.ReadFile(claim)
		if err == nil && folderExists(strings.TrimSpace(string(content))) {
			continue
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return 0, step("read a slot", err)
		}
		if err := os.WriteFile(claim, []byte(folder), 0o600); err != nil {
			return 0, step("claim a slot", err)
		}
		return slot, nil
	}
	return 0, &stepError{code: "NO_CAPACITY", step: "claim a slot", err: errors.New("all slots are taken")}
}

func (s *slotTable) release(slot int, folder string) {
	unlock, err := lockSlots()
	if err != nil {
		return
	}
	defer unlock()
	claim := slotFolder + "/" + strconv.Itoa(slot)
	if content, err := os.ReadFile(claim); err == nil && strings.TrimSpace(string(content)) == folder {
		_ = os.Remove(claim)
	}
}

// releaseAll is for a folder without a state: its launcher was killed between claiming a number and recording it.
func (s *slotTable) releaseAll(folder string) {
	entries, _ := os.ReadDir(slotFolder)
	for _, entry := range entries {
		if slot, err := strconv.Atoi(entry.Name()); err == nil {
			content, err := os.ReadFile(slotFolder + "/" + entry.Name())
			if err == nil && strings.TrimSpace(string(content)) == folder {
				s.release(slot, folder)
			}
		}
	}
}

func lockSlots() (func(), error) {
	lock, err := os.OpenFile(slotFolder+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, step("open the slot lock", err)
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		_ = lock.Close()
		return nil, step("take the slot lock", err)
	}
	return func() { _ = lock.Close() }, nil
}

func folderExists(folder string) bool {
	stat, err := os.Stat(folder)
	return folder != "" && err == nil && stat.IsDir()
}
