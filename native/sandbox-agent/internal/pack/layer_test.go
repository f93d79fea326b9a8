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

// TestLayer covers changed, removed and replaced entries of an upper folder, and the platform's own files.
func TestLayer(t *testing.T) {
	upper := t.TempDir()
	for name, content := range map[string]string{
		"app/main": "new", "etc/hosts": "platform", "etc/own": "kept", "replaced/inside": "x",
	} {
		file := filepath.Join(upper, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(upper, "app/main"), filepath.Join(upper, "app/twice")); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mknod(filepath.Join(upper, "app/gone"), unix.S_IFCHR, 0); err != nil {
		t.Skip("needs root for a whiteout:", err)
	}
	if err := unix.Setxattr(filepath.Join(upper, "replaced"), opaqueXattr, []byte("y"), 0); err != nil {
		t.Skip("needs a file system with trusted attributes:", err)
	}

	read := func() ([]string, []byte) {
		var archive bytes.Buffer
		if err := Layer(upper, &archive); err != nil {
			t.Fatal(err)
		}
		whole := bytes.Clone(archive.Bytes())
		var names []string
		for reader := tar.NewReader(&archive); ; {
			header, err := reader.Next()
			if err == io.EOF {
				return names, whole
			}
			if err != nil {
				t.Fatal(err)
			}
			if header.Typeflag == tar.TypeLink {
				header.Name += " = " + header.Linkname
			}
			names = append(names, header.Name)
		}
	}
	names, first := read()
	want := []string{
		"app/", "app/.wh.gone", "app/main", "app/twice = app/main", "etc/", "etc/own",
		"replaced/", "replaced/.wh..wh..opq", "replaced/inside",
	}
	if !reflect.DeepEqual(names, want) {
		t.Fatalf("got %q, want %q", names, want)
	}
	if _, second := read(); !bytes.Equal(first, second) {
		t.Fatal("the same changes yielded different layers")
	}
}
