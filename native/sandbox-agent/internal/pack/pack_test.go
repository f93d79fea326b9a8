package pack

import (
	"archive/tar"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"golang.org/x/sys/unix"
)

// TestPack checks that two layers are merged as overlayfs shows them, links included.
func TestPack(t *testing.T) {
	upper, lower := t.TempDir(), t.TempDir()
	write := func(layer, name, content string) {
		file := filepath.Join(layer, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(lower, "etc/kept", "lower")
	write(lower, "etc/replaced", "lower")
	write(lower, "etc/removed", "lower")
	write(upper, "etc/replaced", "upper")
	if err := os.Link(filepath.Join(lower, "etc/kept"), filepath.Join(lower, "etc/twice")); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mknod(filepath.Join(upper, "etc/removed"), unix.S_IFCHR, 0); err != nil {
		t.Skip("needs root for a whiteout:", err)
	}

	var archive bytes.Buffer
	p := &packer{tar: tar.NewWriter(&archive), links: map[inode]string{}}
	if err := p.folder("", []string{upper, lower}); err != nil {
		t.Fatal(err)
	}
	if err := p.tar.Close(); err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for reader := tar.NewReader(&archive); ; {
		header, err := reader.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		found[header.Name] = string(content) + header.Linkname
	}
	wanted := map[string]string{"etc/": "", "etc/kept": "lower", "etc/replaced": "upper", "etc/twice": "etc/kept"}
	if !reflect.DeepEqual(found, wanted) {
		t.Fatalf("the archive contains %v", found)
	}
}
