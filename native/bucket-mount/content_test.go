package main

import (
	"bytes"
	"context"
	"strings"
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fs"
)

// fileOfTest is an open file whose object has the path of the root.
func fileOfTest(t testing.TB, s *storeOfTest) (*node, *content) {
	m := mountOf(t, s)
	root := newRoot(m)
	fs.NewNodeFS(root, &fs.Options{})
	found, err := m.platform.stat(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	c := openContent(m, found)
	t.Cleanup(c.release)
	return root, c
}

func readOfTest(of *node, c *content, size int, off int64) (string, bool, error) {
	into := make([]byte, size)
	n, hasGrown, err := c.read(context.Background(), of, into, off)
	return string(into[:n]), hasGrown, err
}

func TestAnUnreadFileIsReadInItsNewVersion(t *testing.T) {
	for _, replacement := range []string{"second, and longer", "2", "same!", ""} {
		s := newStoreOfTest()
		s.put("", []byte("first"))
		of, c := fileOfTest(t, s)
		s.put("", []byte(replacement))
		got, hasGrown, err := readOfTest(of, c, 4096, 0)
		if err != nil || got != replacement[:min(len(got), len(replacement))] || len(got) < min(5, len(replacement)) {
			t.Fatalf("%q was read as %q (%v)", replacement, got, err)
		}
		if hasGrown != (len(replacement) > len("first")) {
			t.Fatalf("%q has grown: %v", replacement, hasGrown)
		}
		if c.size != int64(len(replacement)) {
			t.Fatalf("%q has the size %d", replacement, c.size)
		}
	}
}

func TestAFileThatWasReadIsStale(t *testing.T) {
	s := newStoreOfTest()
	s.put("", bytes.Repeat([]byte("1"), 5*blockSize))
	of, c := fileOfTest(t, s)
	if got, _, err := readOfTest(of, c, 4, 0); err != nil || got != "1111" {
		t.Fatal(got, err)
	}
	s.put("", bytes.Repeat([]byte("2"), 5*blockSize))
	if got, _, err := readOfTest(of, c, 4, 4*blockSize); errnoOf(err) != syscall.ESTALE {
		t.Fatalf("%q instead of a stale handle (%v)", got, err)
	}
}

func TestAFileThatShrankUnderSeveralReadsIsStale(t *testing.T) {
	s := newStoreOfTest()
	s.put("", []byte("first"))
	of, c := fileOfTest(t, s)
	s.put("", []byte("2"))
	if got, _, err := readOfTest(of, c, 2, 0); errnoOf(err) != syscall.ESTALE {
		t.Fatalf("%q instead of a stale handle (%v)", got, err)
	}
}

func TestTheSizeOfAnUnreadFileIsThatOfTheStoredVersion(t *testing.T) {
	s := newStoreOfTest()
	s.put("", []byte("first"))
	of, c := fileOfTest(t, s)
	s.put("", []byte(strings.Repeat("2", 40)))
	c.confirmed = c.confirmed.Add(-confirmAfter)
	if err := c.confirm(context.Background(), of.path()); err != nil || c.size != 40 {
		t.Fatal(c.size, err)
	}
	if got, hasGrown, err := readOfTest(of, c, 4, 36); err != nil || got != "2222" || hasGrown {
		t.Fatal(got, hasGrown, err)
	}
}

func TestAFileThatWasReplacedWhileItWasWrittenIsNotMixed(t *testing.T) {
	s := newStoreOfTest()
	s.put("", []byte("first version"))
	of, c := fileOfTest(t, s)
	if err := c.write([]byte("X"), 0); err != nil {
		t.Fatal(err)
	}
	s.put("", []byte("second version"))
	if got, _, err := readOfTest(of, c, 4, 0); errnoOf(err) != syscall.ESTALE {
		t.Fatalf("%q instead of a stale handle (%v)", got, err)
	}
	if err := c.store(of.path()); errnoOf(err) != syscall.ESTALE {
		t.Fatalf("a mix was stored (%v)", err)
	}
}
