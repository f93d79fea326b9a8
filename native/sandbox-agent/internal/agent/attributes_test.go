package agent

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestAttributesAreReadBelowTheirPrefixOnly(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	fd := int(file.Fd())
	if err := unix.Fsetxattr(fd, "user.probe", []byte("x"), 0); err != nil {
		t.Skip("this file system does not support user attributes: ", err)
	}
	wanted := map[string]string{"user.one.a": "1", "user.one.b": "two"}
	if failed := writeAttributes(fd, wanted); failed != nil {
		t.Fatal(failed)
	}
	if failed := writeAttributes(fd, map[string]string{"user.two.a": "3", "user.one.raw": "\xff"}); failed != nil {
		t.Fatal(failed)
	}
	if found := readAttributes(name, "user.one."); !maps.Equal(found, wanted) {
		t.Errorf("found %v", found)
	}
	if found := readAttributes(name, ""); found != nil {
		t.Errorf("without a prefix found %v", found)
	}
	if found := readAttributes(name, "security."); found != nil {
		t.Errorf("outside of the space found %v", found)
	}
	if failed := writeAttributes(fd, map[string]string{"trusted.a": "1"}); failed == nil {
		t.Error("wrote a system attribute")
	}
}
