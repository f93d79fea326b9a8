package main

import (
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

const (
	kindFile   = "file"
	kindFolder = "folder"

	defaultFileMode   = unix.S_IFREG | 0o666
	defaultFolderMode = unix.S_IFDIR | 0o777
	permissionBits    = 0o7777
	blockBytes        = 512
)

// entry is an object or a folder as the platform describes it.
type entry struct {
	Name       string `json:"name"`
	Kind       string `json:"kind"`
	Size       int64  `json:"size"`
	Etag       string `json:"etag"`
	ModifiedMs int64  `json:"modified_ms"`
	// Metadata holds the file attributes under the names that s3fs uses.
	Metadata map[string]string `json:"metadata"`
}

// attributes are the owner, mode and times of a file, with the sandbox's IDs.
type attributes struct {
	mode     uint32
	uid, gid uint32
	modified time.Time
}

func (e *entry) attributes() attributes {
	mode := uint32(defaultFileMode)
	if e.Kind == kindFolder {
		mode = defaultFolderMode
	}
	a := attributes{mode: mode, modified: time.UnixMilli(e.ModifiedMs)}
	if stored, err := strconv.ParseUint(e.Metadata["mode"], 10, 32); err == nil {
		a.mode = uint32(stored) & permissionBits
		kind := uint32(stored) & unix.S_IFMT
		switch {
		case e.Kind == kindFolder:
			a.mode |= unix.S_IFDIR
		case kind == unix.S_IFLNK:
			a.mode |= unix.S_IFLNK
		default:
			a.mode |= unix.S_IFREG
		}
	}
	a.uid, a.gid = parseID(e.Metadata["uid"]), parseID(e.Metadata["gid"])
	if modified, ok := parseTime(e.Metadata["mtime"]); ok {
		a.modified = modified
	}
	return a
}

func (a attributes) metadata() map[string]string {
	return map[string]string{
		"mode": strconv.FormatUint(uint64(a.mode), 10), "uid": strconv.FormatUint(uint64(a.uid), 10),
		"gid": strconv.FormatUint(uint64(a.gid), 10), "mtime": formatTime(a.modified),
	}
}

func parseID(text string) uint32 {
	id, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return 0
	}
	return uint32(id)
}

func formatTime(t time.Time) string {
	nanoseconds := strconv.Itoa(1_000_000_000 + t.Nanosecond())[1:]
	return strconv.FormatInt(t.Unix(), 10) + "." + nanoseconds
}

func parseTime(text string) (time.Time, bool) {
	whole, fraction, _ := strings.Cut(text, ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return time.Time{}, false
	}
	nanoseconds, err := strconv.ParseInt((fraction + "000000000")[:9], 10, 64)
	return time.Unix(seconds, nanoseconds), err == nil
}

// fill converts the attributes for the kernel, with host IDs.
func (m *mount) fill(a attributes, size int64, out *fuse.Attr) {
	out.Mode, out.Size, out.Nlink = a.mode, uint64(size), 1
	out.Blocks, out.Blksize = uint64((size+blockBytes-1)/blockBytes), maxRequestBytes
	out.Uid, out.Gid = m.hostID(a.uid), m.hostID(a.gid)
	out.SetTimes(&a.modified, &a.modified, &a.modified)
}

// hostID maps an ID of the sandbox to the host. IDs outside the sandbox's range map to its last one.
func (m *mount) hostID(id uint32) uint32 {
	return m.settings.UidBase + min(id, m.settings.UidCount-1)
}

func (m *mount) sandboxID(id uint32) uint32 {
	if id < m.settings.UidBase || id-m.settings.UidBase >= m.settings.UidCount {
		return 0
	}
	return id - m.settings.UidBase
}

func modeOf(kind, mode uint32) uint32 { return kind | mode&permissionBits }

func nowOr(t time.Time, ok bool) time.Time {
	if ok {
		return t
	}
	return time.Now()
}

// newSpool creates an unlinked file in the folder behind the descriptor.
func newSpool(folder int) (*os.File, error) {
	fd, err := unix.Openat(folder, ".", unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "spool"), nil
}
