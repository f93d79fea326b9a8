package agent

import (
	"os"
	"path"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// The kernel resolves every path in the sandbox's own mount and user namespaces, as the sandbox's user, so links, `..`,
// mounts and races cannot lead out of the sandbox. This file only guards against FIFOs and devices that would block the
// helper.

type entry struct {
	Name       string  `json:"name"`
	NameBase64 string  `json:"name_b64,omitempty"`
	Size       int64   `json:"size"`
	Mode       uint32  `json:"mode"`
	ModTime    string  `json:"mod_time"`
	Type       string  `json:"type"`
	LinkTarget *string `json:"link_target"`
	Uid        uint32  `json:"uid"`
	Gid        uint32  `json:"gid"`
	Inode      uint64  `json:"inode"`
	// The times of access and of the last change, for files of volumes.
	AccessTime string `json:"access_time,omitempty"`
	ChangeTime string `json:"change_time,omitempty"`
	// Attributes are returned on request.
	Attributes map[string]string `json:"attributes,omitempty"`
}

func checkPath(name string) *failure {
	if !strings.HasPrefix(name, "/") || len(name) > 4096 || strings.Contains(name, "\x00") {
		return fail("INVALID_PATH", "a path must be absolute, without NUL, and at most 4096 bytes long")
	}
	return nil
}

// describe does not follow a link. It returns the attributes whose names begin with the prefix; an empty prefix returns
// none.
func describe(directory, name, attributes string) (entry, error) {
	full := path.Join(directory, name)
	var stat unix.Stat_t
	if err := unix.Lstat(full, &stat); err != nil {
		return entry{}, err
	}
	e := entryOf(name, &stat)
	if e.Type == "symlink" {
		if target, err := os.Readlink(full); err == nil {
			e.LinkTarget = &target
		}
	}
	if attributes != "" {
		e.Attributes = readAttributes(full, attributes)
	}
	return e, nil
}

func entryOf(name string, stat *unix.Stat_t) entry {
	kind := "other"
	switch stat.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		kind = "file"
	case unix.S_IFDIR:
		kind = "dir"
	case unix.S_IFLNK:
		kind = "symlink"
	}
	e := entry{
		Name: name, NameBase64: rawName(name), Size: stat.Size, Mode: stat.Mode, Type: kind,
		ModTime: timeText(stat.Mtim), Uid: stat.Uid, Gid: stat.Gid, Inode: stat.Ino,
	}
	if servesVolume {
		e.AccessTime, e.ChangeTime = timeText(stat.Atim), timeText(stat.Ctim)
	}
	return e
}

func timeText(t unix.Timespec) string {
	return time.Unix(int64(t.Sec), int64(t.Nsec)).UTC().Format("2006-01-02T15:04:05.000000000Z")
}

func statFile(r *request) (any, *failure) {
	if failed := checkPath(r.Path); failed != nil {
		return nil, failed
	}
	e, err := describe(path.Dir(path.Clean(r.Path)), path.Base(path.Clean(r.Path)), r.AttributesBelow)
	if err != nil {
		return nil, fromError(err)
	}
	return e, nil
}

func makeDirectory(r *request) (any, *failure) {
	if failed := checkPath(r.Path); failed != nil {
		return nil, failed
	}
	mode := os.FileMode(0o755)
	if r.Mode != nil {
		mode = os.FileMode(*r.Mode) & 0o7777
	}
	if isDirectory(r.Path) {
		return map[string]any{"created": false}, nil
	}
	owner, failed := ownerOf(r)
	if failed != nil {
		return nil, failed
	}
	name := path.Clean(r.Path)
	if parent := path.Dir(name); !r.Parents && !isDirectory(parent) {
		var stat unix.Stat_t
		if err := unix.Stat(parent, &stat); err != nil {
			return nil, fromError(err)
		}
		return nil, fail("NOT_A_DIRECTORY", parent+" is not a directory")
	}
	if failed := makeDirectories(name, mode, owner); failed != nil {
		return nil, failed
	}
	return map[string]any{"created": true}, settle(path.Dir(name))
}

func removeFile(r *request) (any, *failure) {
	if failed := checkPath(r.Path); failed != nil {
		return nil, failed
	}
	name := path.Clean(r.Path)
	if name == "/" || holdsMount(name) {
		return nil, fail("PROTECTED_PATH", name+" is the root or contains a mount point")
	}
	var stat unix.Stat_t
	if err := unix.Lstat(name, &stat); err != nil {
		return nil, fromError(err)
	}
	remove := unix.Unlink
	if stat.Mode&unix.S_IFMT == unix.S_IFDIR {
		remove = unix.Rmdir
		if r.Recursive {
			remove = os.RemoveAll // uses descriptors and never follows a link
		}
	}
	if err := remove(name); err != nil {
		return nil, fromError(err)
	}
	return map[string]any{}, settle(path.Dir(name))
}

// setFile changes the owner and the mode of what the path leads to.
func setFile(r *request) (any, *failure) {
	if failed := checkPath(r.Path); failed != nil {
		return nil, failed
	}
	name := path.Clean(r.Path)
	if r.Uid != nil || r.Gid != nil {
		if err := unix.Chown(name, numberOr(r.Uid, -1), numberOr(r.Gid, -1)); err != nil {
			return nil, fromError(err)
		}
	}
	if r.Mode != nil { // last, because a change of the owner takes away bits of the mode
		if err := unix.Chmod(name, uint32(*r.Mode)&0o7777); err != nil {
			return nil, fromError(err)
		}
	}
	return map[string]any{}, settle(name)
}

// settle puts the names in a folder of a volume, or the attributes of a file in it, on disk. A sandbox does not wait for its disk.
func settle(name string) *failure {
	if !servesVolume {
		return nil
	}
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err == unix.ENXIO || err == unix.ENODEV {
		name = path.Dir(name) // a socket or a device cannot be opened, but its folder is in the same journal
		fd, err = unix.Open(name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		return fromError(err)
	}
	defer unix.Close(fd)
	return orNil(ignoreUnsyncable(unix.Fsync(fd)))
}

// ignoreUnsyncable passes over what has no content to sync, such as a FIFO.
func ignoreUnsyncable(err error) error {
	if err == unix.EINVAL {
		return nil
	}
	return err
}

// holdsMount reports whether there is a mount point at or below the path.
func holdsMount(name string) bool {
	if servesVolume {
		return false // nothing is mounted below, and /proc is out of reach
	}
	content, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return true
	}
	for line := range strings.Lines(string(content)) {
		fields := strings.Fields(line)
		if len(fields) < 5 {
			continue
		}
		point := unescapeMount(fields[4])
		if point == name || strings.HasPrefix(point, name+"/") {
			return true
		}
	}
	return false
}

func unescapeMount(text string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(text)
}

var temporaryNumber atomic.Uint64

func temporaryName(prefix string) string {
	number := uint64(time.Now().UnixNano()) + temporaryNumber.Add(1)
	return prefix + strconv.FormatUint(number, 36)
}
