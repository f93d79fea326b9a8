package agent

import (
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestListsOfUsersThatNeverEndAreNone(t *testing.T) {
	folder := t.TempDir()
	fifo, endless, long := folder+"/fifo", folder+"/endless", folder+"/long"
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", endless); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(long, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(long, 1<<40); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{fifo, endless, long} {
		inTime(t, file, func() {
			if home := rootHome(file); home != defaultHome {
				t.Errorf("%s: the home folder is %s", file, home)
			}
		})
	}
	usual := folder + "/passwd"
	if err := os.WriteFile(usual, []byte("app:x:1:1::/app:\nroot:x:0:0::/of-root:/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if home := rootHome(usual); home != "/of-root" {
		t.Errorf("the home folder is %s", home)
	}
}

func TestAFifoInThePlaceOfADirectoryDoesNotBlock(t *testing.T) {
	fifo := t.TempDir() + "/fifo"
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	inTime(t, fifo, func() {
		if _, failed := sortedKeys(fifo); failed == nil {
			t.Error("it was listed")
		}
	})
}

func inTime(t *testing.T, what string, work func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		work()
	}()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		t.Fatalf("%s: no answer", what)
	}
}
