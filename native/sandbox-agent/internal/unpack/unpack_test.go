package unpack

import (
	"bytes"
	"math/rand"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"svc.dev/sandbox-agent/internal/tarseed"
)

// openLayer unpacks without confinement, to prove that the lookup alone keeps entries inside.
func openLayer(t *testing.T, folder string, archive []byte) error {
	t.Helper()
	root, err := unix.Open(folder, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(root)
	return newLayer(root, limits{bytes: 1 << 20, entries: 200}, &Report{}).unpack(bytes.NewReader(archive))
}

func needRoot(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root: layers have owners and whiteouts")
	}
}

// damagedArchive flips some bits of an archive.
func damagedArchive(random *rand.Rand) []byte {
	archive := tarseed.Random(random)
	for range random.Intn(3) {
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
	for range 600 {
		base := t.TempDir()
		folder := filepath.Join(base, "one", "layer")
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if openLayer(t, folder, damagedArchive(random)) == nil {
			unpacked++
		}
		assertAlone(t, base, folder)
		if err := os.RemoveAll(base); err != nil {
			t.Fatal(err)
		}
	}
	if unpacked < 20 { // otherwise the test would prove nothing
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
			t.Fatal("random bytes were accepted as an archive")
		}
	}
}
