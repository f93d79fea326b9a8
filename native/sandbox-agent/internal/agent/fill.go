package agent

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"svc.dev/sandbox-agent/internal/cgroup"
	"svc.dev/sandbox-agent/internal/fsat"
)

const (
	// fillOtherFolders is the exit code if the pod mounts other folders than the disk has.
	fillOtherFolders = 3
	// fillReport is where a kubelet reads the last words of a container.
	fillReport = "/dev/termination-log"
	// filesFolder has the folders of the sandbox. It is renamed into place once it is complete and on disk.
	filesFolder   = "files"
	partialPrefix = "files.partial"
	// imageFile names the image that the files came from.
	imageFile = "image"
	// maxDiskFolders is far more than images have, and fits into the report.
	maxDiskFolders = 50
	maxImageFiles  = 2_000_000
	maxImageBytes  = 64 << 30
)

// errOtherFolders says that a sandbox must mount other folders than it was going to.
var errOtherFolders = errors.New("the disk has other folders")

// Fill prepares the disk of a sandbox, which is mounted at the first argument: it copies the folders of the image, whose name is
// the second one, unless the disk has them already. The others are the folders that the sandbox is going to mount. If
// they are not those of the disk or the image, it copies nothing and reports which are.
func Fill(arguments []string) int {
	if len(arguments) < 2 {
		os.Stderr.WriteString("usage: sandbox-agent fill DISK IMAGE FOLDER...\n")
		return 2
	}
	folders, err := fillDisk("/", arguments[0], arguments[1], arguments[2:])
	if errors.Is(err, errOtherFolders) {
		report, _ := json.Marshal(folders)
		if err = os.WriteFile(fillReport, report, 0o600); err == nil {
			return fillOtherFolders
		}
	}
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		err = errors.New("the files of the image do not fit on the disk of the sandbox")
	}
	if err != nil {
		os.Stderr.WriteString("sandbox-agent: " + err.Error() + "\n")
		return 1
	}
	return 0
}

// fillDisk returns the folders of the disk, or those that it would have. It waits for another one that fills the disk: a node
// may still be ending a pod that the cluster has forgotten.
func fillDisk(root, disk, image string, mounted []string) ([]string, error) {
	fd, err := unix.Open(disk, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd) // and unlocks
	for {
		if err = unix.Flock(fd, unix.LOCK_EX); err != unix.EINTR {
			break
		}
	}
	if err != nil && err != unix.EOPNOTSUPP && err != unix.ENOLCK {
		return nil, err
	}
	files := filepath.Join(disk, filesFolder)
	names, err := foldersIn(files, nil)
	isFilled := err == nil
	if errors.Is(err, unix.ENOENT) {
		var mounts map[string]bool
		if mounts, err = mountPoints(root); err == nil {
			names, err = foldersIn(root, mounts)
		}
	}
	if err != nil {
		return nil, err
	}
	wanted := slices.Sorted(slices.Values(mounted))
	if !slices.Equal(names, wanted) {
		return names, errOtherFolders
	}
	if isFilled {
		return names, nil
	}
	return names, copyFolders(root, disk, fd, image, names)
}

// foldersIn lists the folders that are part of a disk. Links, such as /bin of most images, and mount points are none.
func foldersIn(root string, mounts map[string]bool) ([]string, error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, entry := range entries { // in alphabetical order
		name := entry.Name()
		isSystem := name == "dev" || name == "proc" || name == "sys"
		if entry.IsDir() && !isSystem && !mounts["/"+name] && isFolderName(name) && len(names) < maxDiskFolders {
			names = append(names, name)
		}
	}
	return names, nil
}

// isFolderName tells what can be a mount point of a pod, and part of a list: up to 50 letters, digits and _.+@-, none of the last
// four first.
func isFolderName(name string) bool {
	for index, char := range []byte(name) {
		isWord := char == '_' || '0' <= char && char <= '9' || 'A' <= char && char <= 'Z' || 'a' <= char && char <= 'z'
		if !isWord && (index == 0 || strings.IndexByte(".+@-", char) < 0) {
			return false
		}
	}
	return name != "" && len(name) <= 50
}

// copyFolders is atomic: what a crash leaves is removed by the next one. Two of them, on storage without locks, disturb each other
// but never complete what the other has begun.
func copyFolders(root, disk string, fd int, image string, names []string) error {
	present, err := fsat.Names(fd)
	if err != nil {
		return err
	}
	for _, name := range present {
		if !strings.HasPrefix(name, partialPrefix) {
			continue
		}
		if err := fsat.Remove(fd, name); err != nil && err != unix.ENOENT {
			return err
		}
	}
	partial := temporaryName(partialPrefix + "-")
	if err := unix.Mkdirat(fd, partial, 0o755); err != nil {
		return err
	}
	if _, err := copyTree(root, filepath.Join(disk, partial), names); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(disk, imageFile), []byte(image+"\n"), 0o600); err != nil {
		return err
	}
	if err := unix.Syncfs(fd); err != nil {
		return err
	}
	if err := unix.Renameat(fd, partial, fd, filesFolder); err != nil {
		return err
	}
	return unix.Fsync(fd)
}

// copyTree copies the named files and folders as a snapshot and its restore would. It returns how many it skipped.
func copyTree(root, target string, names []string) (int64, error) {
	limits := &request{MaxEntries: maxImageFiles, MaxBytes: maxImageBytes}
	reader, writer := io.Pipe()
	packed := make(chan error, 1)
	var skipped int64
	go func() {
		p, err := packFolders(root, tar.NewWriter(writer), limits, names)
		if err == nil {
			skipped, err = p.skipped, p.archive.Close()
		}
		packed <- err
		_ = writer.CloseWithError(err) // nil is the end of the archive
	}()
	_, err := restoreInto(target, reader, limits)
	_ = reader.CloseWithError(io.ErrClosedPipe)
	if failed := <-packed; failed != nil && !errors.Is(failed, io.ErrClosedPipe) {
		return skipped, failed
	}
	return skipped, err
}

// diskUsage returns what the files on the disk of the sandbox take, or -1 if there is none, or it shares a file system with
// others, which then is all that the kernel counts.
func diskUsage() int64 {
	if len(diskFolders) == 0 {
		return cgroup.Unknown
	}
	content, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil || !ownsFileSystem(string(content), diskFolders[0]) {
		return cgroup.Unknown
	}
	var stat unix.Statfs_t
	if err := unix.Statfs("/"+diskFolders[0], &stat); err != nil {
		return cgroup.Unknown
	}
	return int64(stat.Blocks-stat.Bfree) * stat.Bsize
}

// ownsFileSystem tells from where a folder is in its file system whether the disk is all of that.
func ownsFileSystem(mountinfo, name string) bool {
	owns := false
	for line := range strings.Lines(mountinfo) {
		before, after, _ := strings.Cut(line, " - ")
		fields := strings.Fields(before)
		if len(fields) < 5 || fields[4] != "/"+name {
			continue
		}
		kind, _, _ := strings.Cut(after, " ")
		isShared := strings.HasPrefix(kind, "nfs") || kind == "cifs" || kind == "9p" || kind == "virtiofs"
		owns = fields[3] == "/"+filesFolder+"/"+name && !isShared
	}
	return owns
}
