package agent

import (
	"os"
	"path"
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
// killed: it creates a symbolic link of the same name in the root that points to the file. The returned function
// removes the marker. Where no marker can be created, as in a read-only root, the work continues without one.
func leaveMarker(folder, name string) func() {
	marker := "/" + name
	if servesVolume {
		marker = "/" + temporaryName(markerPrefix)
	} else if folder == "/" {
		return func() {} // files in the root need no marker
	}
	if err := unix.Symlink(path.Join(folder, name), marker); err != nil {
		return func() {}
	}
	return func() { _ = unix.Unlink(marker) }
}

// leftoverMarkers lists the markers that earlier helpers left in the root.
func leftoverMarkers() []string {
	root, err := os.Open("/")
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

// isMarker tells markers apart from the rest of the root. In the root of a volume, there may also be files that a
// sandbox is writing now.
func isMarker(name string) bool {
	if servesVolume {
		return strings.HasPrefix(name, markerPrefix)
	}
	return isTemporary("/" + name)
}

// removeLeftovers removes the targets of the markers. The sandbox can change markers, so only paths with a temporary
// file's name are removed, and only what root in the sandbox could remove itself.
func removeLeftovers(markers []string) {
	for _, name := range markers {
		marker := "/" + name
		if left, err := os.Readlink(marker); err == nil && strings.HasPrefix(left, "/") && isTemporary("/"+path.Base(left)) {
			if os.RemoveAll(left) != nil {
				continue
			}
		}
		_ = os.RemoveAll(marker)
	}
}
