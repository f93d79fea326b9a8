package host

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

func TestARunFolderHasOneLauncher(t *testing.T) {
	folder := t.TempDir()
	if err := lockRun(folder, 0); err != nil {
		t.Fatal(err)
	}
	first := heldLock
	err := lockRun(folder, 0)
	if err == nil || !strings.Contains(err.Error(), "another launcher is using this folder (process ") {
		t.Fatalf("the second launcher got: %v", err)
	}
	go func() { _ = first.Close() }() // the first one ends while the second one waits
	if err := lockRun(folder, time.Minute); err != nil {
		t.Fatal(err)
	}
	_ = heldLock.Close()
}

func TestALockNeedsItsFolder(t *testing.T) {
	if err := lockRun(t.TempDir()+"/missing", 0); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("got: %v", err)
	}
}
