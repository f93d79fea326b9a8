package agent

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

var wide = &request{MaxEntries: 1000, MaxBytes: 1 << 20}

func shell(t *testing.T, folder, script string) {
	t.Helper()
	command := exec.Command("sh", "-ec", script)
	command.Dir = folder
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
}

func saved(t *testing.T, folder string) []byte {
	t.Helper()
	var archive bytes.Buffer
	p, err := packRoot(folder, tar.NewWriter(&archive), wide)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.archive.Close(); err != nil {
		t.Fatal(err)
	}
	return archive.Bytes()
}

// describeTree lists everything that a restore must reproduce.
func describeTree(t *testing.T, folder string) string {
	t.Helper()
	var text strings.Builder
	names := map[uint64]string{}
	err := filepath.WalkDir(folder, func(name string, _ fs.DirEntry, err error) error {
		if err != nil || name == folder {
			return err
		}
		var stat unix.Stat_t
		if err := unix.Lstat(name, &stat); err != nil {
			return err
		}
		below := strings.TrimPrefix(name, folder)
		if _, known := names[stat.Ino]; !known {
			names[stat.Ino] = below
		}
		content := []byte{}
		switch stat.Mode & unix.S_IFMT {
		case unix.S_IFREG:
			if content, err = os.ReadFile(name); err != nil {
				return err
			}
		case unix.S_IFLNK:
			target, err := os.Readlink(name)
			if err != nil {
				return err
			}
			content = []byte(target)
		}
		attribute := make([]byte, 100)
		size, _ := unix.Lgetxattr(name, "user.note", attribute)
		fmt.Fprintf(&text, "%s %o %d:%d %d %s %q %q\n", below, stat.Mode, stat.Uid, stat.Gid, stat.Mtim.Nano(), names[stat.Ino],
			content, attribute[:max(size, 0)])
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return text.String()
}

const someFiles = `umask 022; mkdir -p etc home/user empty; echo one > etc/same; echo two > etc/changed; echo three > etc/removed
	echo linked > etc/first; ln etc/first etc/second; ln -s same etc/link; ln -s dangling etc/other; mkfifo etc/pipe; : > etc/empty
	echo folder > home/user/file; touch -d 2020-01-01T00:00:00.123456789Z etc/same; chmod 4755 etc/same`

func TestARestoredRootEqualsTheSavedOne(t *testing.T) {
	source, target := t.TempDir(), t.TempDir()
	for _, folder := range []string{source, target} {
		shell(t, folder, someFiles)
	}
	shell(t, source, `echo twO > etc/changed; rm etc/removed etc/second; rm -rf home; echo file > home; mkdir etc/new; chown 7:8 etc/new
		echo longer than before > etc/new/file; rm etc/link; ln -s changed etc/link; ln etc/same etc/hard; rm -r empty; chmod 700 etc`)
	if err := unix.Setxattr(source+"/etc/same", "user.note", []byte("kept"), 0); err != nil {
		t.Logf("no extended attributes here: %v", err)
	}
	shell(t, target, `rm etc/pipe; mkdir etc/pipe; touch etc/pipe/in-the-way; mkdir unknown; touch unknown/file`)
	if describeTree(t, source) == describeTree(t, target) {
		t.Fatal("they are equal from the start")
	}
	report, err := restoreInto(target, bytes.NewReader(saved(t, source)), wide)
	if err != nil {
		t.Fatal(err)
	}
	if want, got := describeTree(t, source), describeTree(t, target); want != got {
		t.Fatalf("wanted\n%s\ngot\n%s", want, got)
	}
	again, err := restoreInto(target, bytes.NewReader(saved(t, source)), wide)
	if err != nil || again.Removed != 0 || again.Written >= report.Written {
		t.Fatalf("a second restore: %+v, %v", again, err)
	}
}

func TestARootBeyondItsLimitsIsRefused(t *testing.T) {
	source := t.TempDir()
	shell(t, source, someFiles)
	for _, most := range []*request{{MaxEntries: 3, MaxBytes: 1 << 20}, {MaxEntries: 1000, MaxBytes: 5}, {}} {
		if _, err := packRoot(source, nil, most); archiveFailure(err).Code != "ARCHIVE_TOO_LARGE" {
			t.Errorf("save: %v", err)
		}
		if most.MaxEntries == 0 {
			continue
		}
		if _, err := restoreInto(t.TempDir(), bytes.NewReader(saved(t, source)), most); archiveFailure(err).Code != "ARCHIVE_TOO_LARGE" {
			t.Errorf("restore: %v", err)
		}
	}
	p, err := packRoot(source, nil, wide)
	if err != nil || p.root.bytes != int64(len("one\ntwo\nthree\nlinked\nfolder\n")) {
		t.Fatalf("measured %d, %v", p.root.bytes, err)
	}
}

func TestAHostileRootIsRefused(t *testing.T) {
	member := func(header tar.Header) []byte {
		var archive bytes.Buffer
		w := tar.NewWriter(&archive)
		if err := w.WriteHeader(&header); err != nil {
			t.Fatal(err)
		}
		_ = w.Close()
		return archive.Bytes()
	}
	whole := member(tar.Header{Name: "file", Typeflag: tar.TypeReg, Mode: 0o600})
	for name, archive := range map[string][]byte{
		"a way out":           member(tar.Header{Name: "../out", Typeflag: tar.TypeReg}),
		"a link out":          member(tar.Header{Name: "link", Typeflag: tar.TypeLink, Linkname: "../etc/passwd"}),
		"a member of nothing": member(tar.Header{Name: "absent/file", Typeflag: tar.TypeReg}),
		"a device":            member(tar.Header{Name: "device", Typeflag: tar.TypeChar}),
		"half of an archive":  whole[:300],
	} {
		if _, err := restoreInto(t.TempDir(), bytes.NewReader(archive), wide); err == nil {
			t.Errorf("%s was restored", name)
		}
	}
}

func TestMountPointsAreReadAsTheyAreNamed(t *testing.T) {
	if got := unescapeMount(`/a\040b\134c\`); got != `/a b\c\` {
		t.Fatal(got)
	}
	mounts, err := mountPoints("/")
	if err != nil || !mounts["/proc"] {
		t.Fatalf("%v %v", mounts, err)
	}
}
