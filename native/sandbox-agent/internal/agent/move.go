package agent

import (
	"os"
	"path"

	"golang.org/x/sys/unix"
)

func moveFile(r *request) (any, *failure) {
	for _, name := range []string{r.Path, r.Target} {
		if failed := checkPath(name); failed != nil {
			return nil, failed
		}
	}
	from, to := path.Clean(r.Path), path.Clean(r.Target)
	err := rename(from, to, r.Overwrite)
	if err == unix.EXDEV && len(diskFolders) > 0 {
		err = moveAcross(from, to, r.Overwrite)
	}
	if err != nil {
		return nil, fromError(err)
	}
	return map[string]any{}, settle(path.Dir(to)) // both names are in one journal
}

func rename(from, to string, overwrite bool) error {
	if overwrite {
		return unix.Rename(from, to)
	}
	return unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
}

// moveAcross moves between two folders of a disk, which are separate mounts: it copies, puts the copy into place at once, and removes
// what was copied. What cannot be copied is not moved.
func moveAcross(from, to string, overwrite bool) error {
	if _, err := os.Lstat(from); err != nil {
		return err
	}
	if holdsMount(from) {
		return unix.EXDEV
	}
	folder, name := path.Dir(to), temporaryName(stagingPrefix)
	staging := path.Join(folder, name)
	defer leaveMarker(folder, name)()
	if err := unix.Mkdir(staging, 0o700); err != nil {
		return err
	}
	defer os.RemoveAll(staging)
	skipped, err := copyTree(path.Dir(from), staging, []string{path.Base(from)})
	if err != nil {
		return err
	}
	copied := path.Join(staging, path.Base(from))
	if _, err := os.Lstat(copied); err != nil || skipped > 0 {
		return unix.EXDEV
	}
	if err := rename(copied, to, overwrite); err != nil {
		return err
	}
	return os.RemoveAll(from)
}
