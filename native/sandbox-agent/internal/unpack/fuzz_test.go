package unpack

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"svc.dev/sandbox-agent/internal/tarseed"
)

// FuzzLayer checks that no layer creates anything outside its folder, that the result contains no devices and stays on
// one file system, and that no descriptor stays open.
func FuzzLayer(f *testing.F) {
	for _, archive := range tarseed.Archives() {
		f.Add(archive)
	}
	f.Fuzz(func(t *testing.T, archive []byte) {
		needRoot(t)
		base := t.TempDir()
		folder := filepath.Join(base, "one", "layer")
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		open := openDescriptors(t)
		_ = openLayer(t, folder, tarseed.Repair(archive))
		if now := openDescriptors(t); now != open {
			t.Fatalf("%d open descriptors became %d", open, now)
		}
		assertAlone(t, base, folder)
		assertNoDevices(t, folder)
	})
}

func openDescriptors(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// assertAlone checks that the folder is the only new entry of its parent, and that the root of this machine has none.
func assertAlone(t *testing.T, base, folder string) {
	t.Helper()
	for _, place := range []struct{ folder, only string }{{base, "one"}, {filepath.Dir(folder), filepath.Base(folder)}} {
		entries, err := os.ReadDir(place.folder)
		if err != nil || len(entries) != 1 || entries[0].Name() != place.only {
			t.Fatalf("%s contains %v (%v)", place.folder, entries, err)
		}
	}
	if _, err := os.Lstat("/outside"); err == nil {
		t.Fatal("/outside was created")
	}
}

func assertNoDevices(t *testing.T, folder string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(name string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		stat, known := info.Sys().(*syscall.Stat_t)
		isDevice := info.Mode()&os.ModeDevice != 0
		if !known || isDevice && stat.Rdev != 0 {
			t.Fatalf("%s is a device", name)
		}
		if stat.Uid >= idsOfSandbox || stat.Gid >= idsOfSandbox {
			t.Fatalf("%s belongs to %d:%d", name, stat.Uid, stat.Gid)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
