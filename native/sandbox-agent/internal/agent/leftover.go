package agent

import (
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	// Further markers are handled at the next start.
	maxMarkers = 4096
	// markerPrefix begins with that of temporary files, so that clients do not see markers in a volume either.
	markerPrefix = writePrefix + "marker-"
)

// leaveMarker records a temporary file before it is created, so that the next helper can remove it if this one is
// killed: it creates a symbolic link in the root that points to the file. The returned function
// removes the marker. Where no marker can be created, as in a read-only root, the work continues without one.
func leaveMarker(folder, name string) func() {
	if folder == "/" && !servesVolume {
		return func() {} // files in the root need no marker
	}
	marker := path.Join(markerFolder(), name)
	if hasNamedMarkers() {
		marker = path.Join(markerFolder(), temporaryName(markerPrefix))
	}
	if err := unix.Symlink(path.Join(folder, name), marker); err != nil {
		return func() {}
	}
	return func() { _ = unix.Unlink(marker) }
}

// markerFolder is the root, or a folder of the disk, if the root is lost with the helper. Not every user can write to it.
func markerFolder() string {
	for _, name := range []string{"var", "etc", "root"} {
		if slices.Contains(diskFolders, name) {
			return "/" + name
		}
	}
	if len(diskFolders) > 0 {
		return "/" + diskFolders[0]
	}
	return "/"
}

// hasNamedMarkers tells whether markers need names of their own, because temporary files may be beside them.
func hasNamedMarkers() bool { return servesVolume || len(diskFolders) > 0 }

// leftoverMarkers lists the markers that earlier helpers left.
func leftoverMarkers() []string {
	root, err := os.Open(markerFolder())
	if err != nil {
		return nil
	}
	defer root.Close()
	markers := []string{}
	for len(markers) < maxMarkers {
		names, err := root.Readdirnames(256)
		for _, name := range names {
			if isMarker(name) {
				markers = append(markers, name)
			}
		}
		if err != nil || len(names) == 0 {
			break
		}
	}
	return markers
}

// isMarker tells markers apart from the rest of their folder. In the root of a volume, there may also be files that a
// sandbox is writing now.
func isMarker(name string) bool {
	if hasNamedMarkers() {
		return strings.HasPrefix(name, markerPrefix)
	}
	return isTemporary("/" + name)
}

// removeLeftovers removes the targets of the markers. The sandbox can change markers, so only paths with a temporary
// file's name are removed, and only what root in the sandbox could remove itself.
func removeLeftovers(markers []string) {
	for _, name := range markers {
		marker := path.Join(markerFolder(), name)
		if left, err := os.Readlink(marker); err == nil && strings.HasPrefix(left, "/") && isTemporary("/"+path.Base(left)) {
			if os.RemoveAll(left) != nil {
				continue
			}
		}
		_ = os.RemoveAll(marker)
	}
}
