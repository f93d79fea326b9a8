package host

import (
	"errors"
	"os"
	"strings"
	"time"

	"svc.dev/sandbox-agent/internal/cgroup"
)

const (
	freezeLimit     = 5 * time.Second
	freezePollEvery = time.Millisecond
)

// pause freezes every process of a running sandbox and returns when all are frozen.
func (h *host) pause(sandbox string) error {
	s, err := h.readState(sandbox)
	if err != nil || !alive(s) {
		return step("pause the sandbox", errors.New("the sandbox is not running"))
	}
	if err := h.cgroups.freeze(sandbox); err != nil {
		_ = h.cgroups.thaw(sandbox)
		return err
	}
	return nil
}

// freezer returns the file that freezes a group, and the values that freeze and thaw it.
func (l *cgroupLayout) freezer(sandbox string) (file, freeze, thaw string, found bool) {
	if l.version == "v2" {
		directory, _ := l.directory("unified", sandbox)
		return directory + "/cgroup.freeze", "1", "0", true
	}
	directory, found := l.directory("freezer", sandbox)
	return directory + "/freezer.state", "FROZEN", "THAWED", found
}

func (l *cgroupLayout) freeze(sandbox string) error {
	file, freeze, _, found := l.freezer(sandbox)
	if !found {
		return step("freeze the sandbox", errors.New("this machine has no freezer"))
	}
	for waited := time.Duration(0); waited < freezeLimit; waited += freezePollEvery {
		// Written repeatedly: a v1 group that forks in the meantime stays FREEZING until it is frozen again.
		if waited%(10*freezePollEvery) == 0 {
			if err := os.WriteFile(file, []byte(freeze), 0); err != nil {
				return step("freeze the sandbox", err)
			}
		}
		if l.frozen(sandbox) {
			return nil
		}
		time.Sleep(freezePollEvery)
	}
	return step("freeze the sandbox", errors.New("the processes did not freeze in time"))
}

// thaw resumes the processes. A group that is not frozen or does not exist is not an error.
func (l *cgroupLayout) thaw(sandbox string) error {
	file, _, thaw, found := l.freezer(sandbox)
	if !found {
		return nil
	}
	err := os.WriteFile(file, []byte(thaw), 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return step("thaw the sandbox", err)
}

func (l *cgroupLayout) frozen(sandbox string) bool {
	if l.version == "v2" {
		return l.group(sandbox).Field(cgroup.Unified, "cgroup.events", "frozen") == 1
	}
	directory, found := l.directory("freezer", sandbox)
	if !found {
		return false
	}
	content, err := os.ReadFile(directory + "/freezer.state")
	return err == nil && strings.TrimSpace(string(content)) == "FROZEN"
}
