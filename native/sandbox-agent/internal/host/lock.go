package host

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// A launcher whose platform was killed first finishes its work in progress, such as a stop with its grace period.
	lockPatience  = 30 * time.Second
	lockPollEvery = 20 * time.Millisecond
)

// lockRun makes this the only launcher of the run folder while it runs: a second one would clean up the first one's
// sandboxes as leftovers of a crash. The lock file is kept and names the process that holds the lock.
func lockRun(folder string, patience time.Duration) error {
	name := folder + "/launcher.lock"
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return step("open "+name, err)
	}
	for waited := time.Duration(0); ; waited += lockPollEvery {
		err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			_ = file.Close()
			return step("lock "+name, err)
		}
		if waited >= patience {
			defer file.Close()
			return step("lock "+name, errors.New("another launcher is using this folder"+holderOf(name)+
				"; stop the platform that it belongs to"))
		}
		time.Sleep(lockPollEvery)
	}
	heldLock = file // a garbage-collected file would be closed, which releases the lock
	if err := file.Truncate(0); err != nil {
		return step("write "+name, err)
	}
	_, err = file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return step("write "+name, err)
}

var heldLock *os.File

func holderOf(name string) string {
	content, err := os.ReadFile(name)
	pid := strings.TrimSpace(string(content))
	if err != nil || pid == "" {
		return ""
	}
	return " (process " + pid + ")"
}
