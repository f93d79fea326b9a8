package agent

import (
	"fmt"
	"os"
	"path"

	"golang.org/x/sys/unix"

	"svc.dev/sandbox-agent/internal/fsat"
)

// receiveArchive unpacks the stream's archive below a folder. Everything is written next to its target first, and moved
// into place entry by entry once the whole archive is valid and nothing is in its way.
func receiveArchive(s *stream, r *request) (any, *failure) {
	if failed := checkPath(r.Path); failed != nil {
		return nil, failed
	}
	if r.MaxEntries <= 0 || r.MaxBytes <= 0 || r.MaxRatio <= 0 {
		return nil, fail("ARCHIVE_TOO_LARGE", "the request has no limits")
	}
	target := path.Clean(r.Path)
	made, err := makeFolders(target, r.Parents)
	if err != nil {
		return nil, fromError(err)
	}
	result, err := unpackInto(target, s, r)
	if err != nil {
		removeFolders(made)
		return nil, archiveFailure(err)
	}
	return result, nil
}

func unpackInto(target string, s *stream, r *request) (any, error) {
	folder, err := unix.Open(target, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(folder)
	staging := temporaryName(stagingPrefix)
	defer leaveMarker(target, staging)()
	if err := unix.Mkdirat(folder, staging, 0o700); err != nil {
		return nil, err
	}
	defer func() { _ = fsat.Remove(folder, staging) }()
	root, err := fsat.OpenFolder(folder, staging)
	if err != nil {
		return nil, err
	}
	defer unix.Close(root)
	s.transfer()
	x := newExtraction(root, s, r)
	if err := x.run(); err != nil {
		return nil, err
	}
	m := &placement{}
	var stat unix.Stat_t
	if err := unix.Fstat(root, &stat); err != nil {
		return nil, err
	}
	m.device = uint64(stat.Dev)
	if err := m.check(root, folder, ""); err != nil {
		return nil, err
	}
	if err := m.place(root, folder); err != nil {
		return nil, fail("ARCHIVE_PARTLY_PLACED", fmt.Sprintf(
			"the archive is valid, but only %d of its entries were moved into place: %s", m.placed, err.Error()))
	}
	if servesVolume {
		if err := unix.Syncfs(folder); err != nil {
			return nil, err
		}
	}
	return map[string]any{"entries": x.entries, "bytes": x.bytes}, nil
}

// placement moves a tree into an existing one. Folders are merged; any other entry replaces the one with its name.
type placement struct {
	device uint64
	placed int64
}

// check finds what would stop the placement halfway, before anything is moved.
func (m *placement) check(from, to int, prefix string) error {
	names, err := fsat.Names(from)
	if err != nil {
		return err
	}
	for _, name := range names {
		wanted, err := fsat.Lstat(from, name)
		if err != nil {
			return err
		}
		present, err := fsat.Lstat(to, name)
		if err == unix.ENOENT {
			continue
		}
		if err != nil {
			return err
		}
		if isFolder(wanted) != isFolder(present) {
			return fail("ALREADY_EXISTS", prefix+name+" is a folder on one side only")
		}
		if isFolder(wanted) {
			if err := m.checkFolder(from, to, name, prefix); err != nil {
				return err
			}
		}
	}
	_, err = unix.Seek(from, 0, 0) // rewinds for a second listing
	return err
}

func (m *placement) checkFolder(from, to int, name, prefix string) error {
	return both(from, to, name, func(from, to int) error {
		var stat unix.Stat_t
		if err := unix.Fstat(to, &stat); err != nil {
			return err
		}
		if uint64(stat.Dev) != m.device {
			return fail("PROTECTED_PATH", prefix+name+" is on another file system")
		}
		return m.check(from, to, prefix+name+"/")
	})
}

func (m *placement) place(from, to int) error {
	names, err := fsat.Names(from)
	if err != nil {
		return err
	}
	for _, name := range names {
		present, err := fsat.Lstat(to, name)
		if err == nil && isFolder(present) {
			err = both(from, to, name, m.place)
		} else if err == nil || err == unix.ENOENT {
			err = unix.Renameat2(from, name, to, name, 0)
		}
		if err != nil {
			return err
		}
		m.placed++
	}
	return nil
}

func both(from, to int, name string, work func(from, to int) error) error {
	below, err := fsat.OpenFolder(from, name)
	if err != nil {
		return err
	}
	defer unix.Close(below)
	there, err := fsat.OpenFolder(to, name)
	if err != nil {
		return err
	}
	defer unix.Close(there)
	return work(below, there)
}

func isFolder(stat *unix.Stat_t) bool { return stat.Mode&unix.S_IFMT == unix.S_IFDIR }

// makeFolders returns the folders that it created, the deepest last.
func makeFolders(target string, parents bool) ([]string, error) {
	made := []string{}
	missing := []string{}
	for at := target; at != "/" && !isDirectory(at); at = path.Dir(at) {
		missing = append(missing, at)
	}
	if len(missing) > 1 && !parents {
		return nil, unix.ENOENT
	}
	for index := len(missing) - 1; index >= 0; index-- {
		if err := os.Mkdir(missing[index], 0o755); err != nil {
			removeFolders(made)
			return nil, err
		}
		made = append(made, missing[index])
	}
	return made, nil
}

// removeFolders removes those of the folders that are still empty.
func removeFolders(made []string) {
	for index := len(made) - 1; index >= 0; index-- {
		if unix.Rmdir(made[index]) != nil {
			return
		}
	}
}
