package agent

import (
	"archive/tar"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"svc.dev/sandbox-agent/internal/frame"
)

const (
	attributeRecord = "SCHILY.xattr."
	// maxXattrBytes is what Linux allows for a value, and for the list of names.
	maxXattrBytes = 64 << 10
)

// diskFolders are the names of the folders in the root that are mounted from the disk of the sandbox: its files are there. Set
// before anything is served; none if the root itself is the disk.
var diskFolders []string

// rootLimits bounds the archive of a root.
type rootLimits struct {
	// mounts are the paths of all mount points: what is there belongs to the sandbox's start, not to its files.
	mounts map[string]bool
	// only are the names in the root that are archived; nil for all.
	only       map[string]bool
	maxEntries int64
	maxBytes   int64
	bytes      int64
}

// saveRoot streams all files of the sandbox as a tar archive that `root.restore` turns into the same files in another
// sandbox, whatever its image has. Devices and sockets are left out.
func saveRoot(s *stream, r *request) (any, *failure) {
	s.event(map[string]any{"type": "begun", "architecture": runtime.GOARCH})
	out := &dataWriter{stream: s, buffer: make([]byte, dataHead+frame.MaxDataBytes-1)}
	p, err := packRoot("/", tar.NewWriter(out), r)
	if err == nil {
		err = p.archive.Close()
	}
	if err == nil {
		err = out.flush()
	}
	if err != nil {
		return nil, archiveFailure(err)
	}
	return map[string]any{"entries": p.entries, "skipped": p.skipped, "bytes": out.sent}, nil
}

// measureRoot returns what `root.save` would send, without reading files.
func measureRoot(r *request) (any, *failure) {
	p, err := packRoot("/", nil, r)
	if err != nil {
		return nil, archiveFailure(err)
	}
	return map[string]any{"entries": p.entries, "bytes": p.root.bytes}, nil
}

func packRoot(root string, archive *tar.Writer, r *request) (*packer, error) {
	return packFolders(root, archive, r, nil)
}

// packFolders archives the named folders of a root, or all of it.
func packFolders(root string, archive *tar.Writer, r *request, names []string) (*packer, error) {
	if r.MaxEntries <= 0 || r.MaxBytes <= 0 {
		return nil, archiveTooLarge("the request has no limits")
	}
	mounts, err := foreignMounts(root)
	if err != nil {
		return nil, err
	}
	fd, err := unix.Open(root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	limits := &rootLimits{mounts: mounts, maxEntries: r.MaxEntries, maxBytes: r.MaxBytes}
	for _, name := range names {
		if limits.only == nil {
			limits.only = map[string]bool{}
		}
		limits.only[name] = true
	}
	p := &packer{archive: archive, root: limits, links: map[fileID]string{}, buffer: make([]byte, 64<<10)}
	return p, p.folder(fd, "", 0)
}

// foreignMounts returns the mount points that are not folders of the disk.
func foreignMounts(root string) (map[string]bool, error) {
	mounts, err := mountPoints(root)
	for _, name := range diskFolders {
		delete(mounts, "/"+name)
	}
	return mounts, err
}

// mountPoints returns the mount points below a folder, as paths that begin at the folder.
func mountPoints(root string) (map[string]bool, error) {
	content, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	mounts := map[string]bool{}
	for line := range strings.Lines(string(content)) {
		fields := strings.Fields(line)
		if len(fields) < 5 {
			continue
		}
		below, inside := strings.CutPrefix(unescapeMount(fields[4]), strings.TrimSuffix(root, "/")+"/")
		if inside && below != "" {
			mounts["/"+below] = true
		}
	}
	return mounts, nil
}

// attributeRecords returns the extended attributes of an open file that a sandbox can set, as records of a tar header.
func attributeRecords(fd int) map[string]string {
	records := map[string]string{}
	for name, value := range keptAttributes(fd) {
		records[attributeRecord+name] = value
	}
	if len(records) == 0 {
		return nil
	}
	return records
}

func keptAttributes(fd int) map[string]string {
	attributes := map[string]string{}
	names := make([]byte, maxXattrBytes)
	count, err := unix.Flistxattr(fd, names)
	if err != nil || count == 0 {
		return attributes
	}
	value := make([]byte, maxXattrBytes)
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names[:count]), "\x00"), "\x00") {
		if !isKeptAttribute(name) {
			continue
		}
		if size, err := unix.Fgetxattr(fd, name, value); err == nil {
			attributes[name] = string(value[:size])
		}
	}
	return attributes
}

func isKeptAttribute(name string) bool {
	return name == "security.capability" || strings.HasPrefix(name, "user.") && !strings.Contains(name, ".overlay.")
}
