package host

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// fillDisk creates the overlay's folders and the few files that a sandbox starts with. It writes to the disk directly,
// never through the image, whose links could lead anywhere.
func fillDisk(root string, files map[string]string) error {
	if err := os.MkdirAll(root+"/upper", 0o755); err != nil {
		return rootfsStep("prepare the disk", err)
	}
	if err := writeFirstFiles(root, files); err != nil {
		return err
	}
	return rootfsStep("prepare the disk", os.Mkdir(root+"/work", 0o755))
}

func writeFirstFiles(root string, files map[string]string) error {
	for name, content := range files {
		if strings.HasPrefix(name, "/") || strings.Contains(name, "..") {
			return rootfsStep("prepare the disk", unix.EINVAL)
		}
		target := root + "/upper/" + name
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return rootfsStep("prepare the disk", err)
		}
		if err := os.WriteFile(target, []byte(content), 0o644); err != nil {
			return rootfsStep("prepare the disk", err)
		}
	}
	return nil
}

// isFilled reports whether the last step of fillDisk was done.
func isFilled(root string) bool {
	_, err := os.Lstat(root + "/work")
	return err == nil
}
