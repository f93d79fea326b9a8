package unpack

import (
	"archive/tar"
	"bytes"
	"math/rand"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// openLayer unpacks without the lock on the folder, so that what keeps entries inside is shown by itself.
func openLayer(t *testing.T, folder string, archive []byte) error {
	t.Helper()
	root, err := syscall.Open(folder, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(root)
	return newLayer(root, limits{bytes: 1 << 20, entries: 200}, &Report{}).unpack(bytes.NewReader(archive))
}

func needRoot(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root: layers have owners and whiteouts")
	}
}

// randomArchive uses few names again and again, so that links, files, folders and whiteouts take each other's places.
func randomArchive(random *rand.Rand) []byte {
	names := []string{"a", "b", "a/b", "a/b/c", "b/a", "up", "up/x", "abs", "abs/x", "..", "a/../..", "/", ".", "./a", "a/.wh.b",
		".wh.a", ".wh..wh..opq", "a/.wh..wh..opq", ".wh...", "up/.wh.x", "../outside", "/outside"}
	targets := []string{"..", "../..", "/", "a", "a/b", "b", "up", "../outside", "/outside", ".", "up/x"}
	types := []byte{tar.TypeReg, tar.TypeReg, tar.TypeDir, tar.TypeSymlink, tar.TypeSymlink, tar.TypeLink, tar.TypeFifo, tar.TypeChar}
	var out bytes.Buffer
	writer := tar.NewWriter(&out)
	for range 1 + random.Intn(12) {
		header := &tar.Header{Name: names[random.Intn(len(names))], Typeflag: types[random.Intn(len(types))], Mode: int64(random.Intn(0o10000)),
			Uid: random.Intn(100_000), Gid: random.Intn(100_000)}
		content := []byte{}
		switch header.Typeflag {
		case tar.TypeSymlink, tar.TypeLink:
			header.Linkname = targets[random.Intn(len(targets))]
		case tar.TypeReg:
			content = []byte("content")
			header.Size = int64(len(content))
		}
		if writer.WriteHeader(header) == nil {
			_, _ = writer.Write(content)
		}
	}
	_ = writer.Close()
	archive := out.Bytes()
	for range random.Intn(3) { // and some of it damaged
		if len(archive) > 0 {
			archive[random.Intn(len(archive))] ^= byte(1 << random.Intn(8))
		}
	}
	return archive
}

func TestNothingLeadsOutOfTheLayer(t *testing.T) {
	needRoot(t)
	random := rand.New(rand.NewSource(20261121))
	unpacked := 0
	for round := range 600 {
		base := t.TempDir()
		folder := filepath.Join(base, "one", "layer")
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if openLayer(t, folder, randomArchive(random)) == nil {
			unpacked++
		}
		for _, place := range []struct{ folder, only string }{{base, "one"}, {filepath.Join(base, "one"), "layer"}} {
			entries, err := os.ReadDir(place.folder)
			if err != nil || len(entries) != 1 || entries[0].Name() != place.only {
				t.Fatalf("round %d: %s holds %v (%v)", round, place.folder, entries, err)
			}
		}
		if _, err := os.Lstat("/outside"); err == nil {
			t.Fatalf("round %d made /outside", round)
		}
		if err := os.RemoveAll(base); err != nil {
			t.Fatal(err)
		}
	}
	if unpacked < 20 { // else the archives would prove nothing
		t.Fatalf("only %d archives were unpacked", unpacked)
	}
}

func TestRandomBytesAreRefused(t *testing.T) {
	needRoot(t)
	random := rand.New(rand.NewSource(1))
	for range 500 {
		content := make([]byte, random.Intn(4096))
		random.Read(content)
		if err := openLayer(t, t.TempDir(), content); err == nil && len(content) > 0 {
			t.Fatal("random bytes were taken for an archive")
		}
	}
}
