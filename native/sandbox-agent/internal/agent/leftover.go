package agent

import (
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// Further markers are handled at the next start.
const maxMarkers = 4096

// leaveMarker records a temporary file before it is created, so that the next helper can remove it if this one is
// killed: it creates a symbolic link of the same name in the root that points to the file. The returned function
// removes the marker. Where no marker can be created, as in a read-only root, the work continues without one.
func leaveMarker(folder, name string) func() {
	if folder == "/" {
		return func() {} // files in the root need no marker
	}
	if err := unix.Symlink(path.Join(folder, name), "/"+name); err != nil {
		return func() {}
	}
	return func() { _ = unix.Unlink("/" + name) }
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
			if isTemporary("/" + name) {
				markers = append(markers, name)
			}
		}
		if err != nil || len(names) == 0 {
			break
		}
	}
	return markers
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
