package host

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func writeTemplate(t *testing.T, name string, size int64, pieces map[int64][]byte) {
	t.Helper()
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := file.Truncate(size); err != nil {
		t.Fatal(err)
	}
	for offset, content := range pieces {
		if _, err := file.WriteAt(content, offset); err != nil {
			t.Fatal(err)
		}
	}
}

func assertEqualFiles(t *testing.T, one, other string) {
	t.Helper()
	left, err := os.ReadFile(one)
	if err != nil {
		t.Fatal(err)
	}
	right, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(left, right) {
		t.Fatalf("%s and %s differ", one, other)
	}
}

func TestDisksEqualTheirTemplate(t *testing.T) {
	folder := t.TempDir()
	template, disk := filepath.Join(folder, "template"), filepath.Join(folder, "disk")
	text := bytes.Repeat([]byte("text"), 3000) // ends within a block
	writeTemplate(t, template, 20<<20, map[int64][]byte{
		0: text, 1 << 20: make([]byte, 64<<10), 5<<20 + 17: []byte("x"), 20<<20 - 3: []byte("end"),
	})
	cache := templateCache{}
	for range 2 { // read, then kept
		if err := cache.makeDisk(template, disk); err != nil {
			t.Fatal(err)
		}
		assertEqualFiles(t, template, disk)
		var stat unix.Stat_t
		if err := unix.Stat(disk, &stat); err != nil || stat.Blocks*512 > 48<<10 || stat.Mode&0o777 != 0o600 {
			t.Fatalf("the disk takes %d bytes, mode %o, %v", stat.Blocks*512, stat.Mode, err)
		}
		if err := os.Remove(disk); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAReplacedTemplateIsReadAgain(t *testing.T) {
	folder := t.TempDir()
	template, disk := filepath.Join(folder, "template"), filepath.Join(folder, "disk")
	cache := templateCache{}
	for _, content := range []string{"one", "two"} {
		next := template + ".next"
		writeTemplate(t, next, 1<<20, map[int64][]byte{8192: []byte(content)})
		if err := os.Rename(next, template); err != nil {
			t.Fatal(err)
		}
		if err := cache.makeDisk(template, disk); err != nil {
			t.Fatal(err)
		}
		assertEqualFiles(t, template, disk)
	}
}

func TestATemplateWithMuchDataIsCopied(t *testing.T) {
	folder := t.TempDir()
	template, disk := filepath.Join(folder, "template"), filepath.Join(folder, "disk")
	writeTemplate(t, template, 16<<20, map[int64][]byte{4096: bytes.Repeat([]byte("much"), 2<<20)})
	cache := templateCache{}
	if err := cache.makeDisk(template, disk); err != nil {
		t.Fatal(err)
	}
	assertEqualFiles(t, template, disk)
	if len(cache.kept) != 0 {
		t.Fatal("a large template is kept in memory")
	}
}

func TestAMissingTemplateLeavesNoDisk(t *testing.T) {
	folder := t.TempDir()
	cache := templateCache{}
	if err := cache.makeDisk(filepath.Join(folder, "none"), filepath.Join(folder, "disk")); !os.IsNotExist(err) {
		t.Fatalf("got %v", err)
	}
	if entries, _ := os.ReadDir(folder); len(entries) != 0 {
		t.Fatalf("left %v", entries)
	}
}
