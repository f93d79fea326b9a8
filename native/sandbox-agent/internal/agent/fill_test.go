package agent

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

const imageFiles = `umask 022; mkdir -p etc usr/bin home/user tmp dev proc sys 'odd name'; ln -s usr/bin bin; echo file > top
	echo one > etc/one; chmod 4755 etc/one; chown 7:8 etc/one; ln etc/one usr/bin/one; ln -s ../one etc/link; mkfifo etc/pipe
	chmod 1777 tmp; touch -d 2020-01-01T00:00:00.123456789Z home/user; truncate -s 8M etc/sparse`

func TestADiskGetsTheFoldersOfTheImageOnce(t *testing.T) {
	root, disk := t.TempDir(), t.TempDir()
	shell(t, root, imageFiles)
	shell(t, disk, `mkdir lost+found files.partial files.partial/etc; echo half > files.partial/etc/one`)
	folders, err := fillDisk(root, disk, "debian:13", nil)
	if want := []string{"etc", "home", "tmp", "usr"}; !errors.Is(err, errOtherFolders) || !slices.Equal(folders, want) {
		t.Fatal(folders, err)
	}
	if _, err := os.Stat(disk + "/files"); err == nil {
		t.Fatal("it was filled for other folders")
	}
	if _, err := fillDisk(root, disk, "debian:13", []string{"usr", "tmp", "home", "etc"}); err != nil {
		t.Fatal(err)
	}
	shell(t, root, `rm -r bin top dev proc sys 'odd name'`)
	if want, got := describeTree(t, root), describeTree(t, disk+"/files"); want != got {
		t.Fatalf("wanted\n%s\ngot\n%s", want, got)
	}
	var stat unix.Stat_t
	if err := unix.Stat(disk+"/files/etc/sparse", &stat); err != nil || stat.Blocks > 256 {
		t.Fatal("the hole takes space", stat.Blocks, err)
	}
	shell(t, disk, `test ! -e files.partial; test "$(cat image)" = debian:13; echo changed > files/etc/one`)
	shell(t, root, `rm -r home; mkdir new`)
	if _, err := fillDisk(root, disk, "other", folders); err != nil {
		t.Fatal("another image matters to a filled disk", err)
	}
	if _, err := fillDisk(root, disk, "other", []string{"etc"}); !errors.Is(err, errOtherFolders) {
		t.Fatal(err)
	}
	shell(t, disk, `test "$(cat image)" = debian:13; test "$(cat files/etc/one)" = changed; test ! -e files/new`)
}

func TestAFailedFillLeavesNoFilledDisk(t *testing.T) {
	root, disk := t.TempDir(), t.TempDir()
	shell(t, root, `mkdir etc; echo one > etc/one; mkdir etc/folder`)
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=64k"); err != nil {
		t.Skip("no mounts here: ", err)
	}
	defer unix.Unmount(disk, unix.MNT_DETACH)
	shell(t, root, `head -c 200000 /dev/urandom > etc/large`)
	if _, err := fillDisk(root, disk, "image", []string{"etc"}); !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
	if _, err := os.Stat(disk + "/files"); err == nil {
		t.Fatal("half of it counts")
	}
	shell(t, root, `rm etc/large`)
	if _, err := fillDisk(root, disk, "image", []string{"etc"}); err != nil {
		t.Fatal(err)
	}
}

func TestFoldersOfADiskArePartOfTheRoot(t *testing.T) {
	source, target, other := t.TempDir(), t.TempDir(), t.TempDir()
	restore := &request{Op: "root.restore", MaxEntries: wide.MaxEntries, MaxBytes: wide.MaxBytes}
	for _, folder := range []string{"etc", "home"} {
		shell(t, target, "mkdir "+folder)
		if err := unix.Mount(t.TempDir(), target+"/"+folder, "", unix.MS_BIND, ""); err != nil {
			t.Skip("no mounts here: ", err)
		}
		defer unix.Unmount(target+"/"+folder, unix.MNT_DETACH)
	}
	diskFolders = []string{"etc", "home"}
	defer func() { diskFolders = nil }()
	shell(t, source, `mkdir etc usr; echo one > etc/one; ln etc/one etc/two; ln etc/one usr/three; chmod 750 etc`)
	shell(t, target, `mkdir home/gone; touch home/.hidden etc/gone`)
	if _, err := restoreInto(target, bytes.NewReader(saved(t, source)), restore); err != nil {
		t.Fatal(err)
	}
	shell(t, target, `test "$(cat etc/one etc/two usr/three)" = "$(printf 'one\none\none')"; test etc/one -ef etc/two
		test "$(ls -A etc home | tr '\n' ' ')" = 'etc: one two  home: '; test "$(stat -c %a etc)" = 750`)
	if _, err := restoreInto(other, bytes.NewReader(saved(t, target)), wide); err != nil {
		t.Fatal(err)
	}
	shell(t, other, `test "$(cat etc/one)" = one; test -d home`)
	diskFolders = nil
	if _, err := restoreInto(other, bytes.NewReader(saved(t, target)), wide); err != nil {
		t.Fatal(err)
	}
	shell(t, other, `test ! -e etc/one`) // mount points of anything else have no files
	diskFolders = []string{"etc", "home"}
	link := t.TempDir()
	shell(t, link, `mkdir usr; ln -s usr etc`)
	if _, err := restoreInto(target, bytes.NewReader(saved(t, link)), restore); archiveFailure(err).Code != "ARCHIVE_REFUSED" {
		t.Fatal(err)
	}
}

func TestFilesMoveBetweenTheFoldersOfADisk(t *testing.T) {
	root := t.TempDir()
	for _, folder := range []string{"home", "tmp"} {
		shell(t, root, "mkdir "+folder)
		if err := unix.Mount(t.TempDir(), root+"/"+folder, "", unix.MS_BIND, ""); err != nil {
			t.Skip("no mounts here: ", err)
		}
		defer unix.Unmount(root+"/"+folder, unix.MNT_DETACH)
	}
	move := func(from, to string, overwrite bool) string {
		_, failed := moveFile(&request{Path: root + from, Target: root + to, Overwrite: overwrite})
		if failed == nil {
			return ""
		}
		return failed.Code
	}
	shell(t, root, `echo one > tmp/home; chown 7:8 tmp/home; mkdir -p tmp/tree/below; ln -s x tmp/tree/link; echo two > tmp/tree/below/file`)
	if got := move("/tmp/home", "/home/file", false); got != "PROTECTED_PATH" {
		t.Fatal("without a disk: ", got)
	}
	diskFolders = []string{"home", "tmp"}
	defer func() { diskFolders = nil }()
	for _, step := range []struct {
		from, to  string
		overwrite bool
		want      string
	}{
		{"/tmp/home", "/home/home", false, ""},
		{"/tmp/tree", "/home/tree", false, ""},
		{"/home/home", "/tmp/again", false, ""},
		{"/tmp/again", "/home/tree", false, "ALREADY_EXISTS"},
		{"/tmp/again", "/home/tree/below/file", false, "ALREADY_EXISTS"},
		{"/tmp/again", "/home/tree/below/file", true, ""},
		{"/tmp/absent", "/home/absent", true, "NOT_FOUND"},
	} {
		if got := move(step.from, step.to, step.overwrite); got != step.want {
			t.Errorf("%+v: %s", step, got)
		}
	}
	shell(t, root, `test "$(cat home/tree/below/file)" = one; test "$(stat -c %u:%g home/tree/below/file)" = 7:8; test -L home/tree/link
		test "$(ls -A home tmp | tr '\n' ' ')" = 'home: tree  tmp: '; mkdir tmp/special; echo x > tmp/special/file; mknod tmp/special/null c 1 3`)
	if got := move("/tmp/special", "/home/special", false); got != "PROTECTED_PATH" {
		t.Error("a device was left out: ", got)
	}
	shell(t, root, `test -c tmp/special/null; test -f tmp/special/file; test ! -e home/special`)
}

func TestADiskIsFilledByOneAtATime(t *testing.T) {
	root, disk := t.TempDir(), t.TempDir()
	shell(t, root, `mkdir etc; for n in $(seq 200); do echo $n > etc/$n; done`)
	results := make(chan error, 4)
	for range cap(results) {
		go func() {
			_, err := fillDisk(root, disk, "image", []string{"etc"})
			results <- err
		}()
	}
	for range cap(results) {
		if err := <-results; err != nil {
			t.Fatal(err)
		}
	}
	shell(t, disk, `test "$(ls | tr '\n' ' ')" = 'files image '; test $(ls files/etc | wc -l) = 200`)
}

func TestADiskIsMeasuredOnlyIfItHasItsOwnFileSystem(t *testing.T) {
	line := func(root, kind string) string {
		return "99 1 7:1 " + root + " /etc rw,relatime - " + kind + " /dev/loop1 rw\n"
	}
	for text, want := range map[string]bool{
		line("/files/etc", "ext4"):             true,
		line("/volumes/one/files/etc", "ext4"): false,
		line("/files/etc", "nfs4"):             false,
		line("/", "9p"):                        false,
		"":                                     false,
	} {
		if got := ownsFileSystem(text, "etc"); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestNamesOfFolders(t *testing.T) {
	long := strings.Repeat("a", 50)
	for _, name := range []string{"usr", "lib64", "_x", "a.b+c@d-e", "0", long} {
		if !isFolderName(name) {
			t.Errorf("%q is none", name)
		}
	}
	for _, name := range []string{"", ".hidden", "-x", "a b", "a/b", "a,b", "a:b", "é", "a\n", long + "a"} {
		if isFolderName(name) {
			t.Errorf("%q is one", name)
		}
	}
}
