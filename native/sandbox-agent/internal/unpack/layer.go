package unpack

import (
	"archive/tar"
	"bufio"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"svc.dev/sandbox-agent/internal/fsat"
)

const (
	whiteoutPrefix = ".wh."
	opaqueName     = ".wh..wh..opq"
	reservedPrefix = ".wh..wh." // metadata of AUFS
	opaqueXattr    = "trusted.overlay.opaque"

	maxNameBytes = 255
	maxPathBytes = 4096
	maxDepth     = 256
	readBytes    = 1 << 20
	copyBytes    = 256 << 10
)

type limits struct{ bytes, entries int64 }

type folderTime struct {
	path string
	at   time.Time
}

// layer is a layer being unpacked. Nothing else writes to its folder, so a checked entry cannot change.
type layer struct {
	tree
	limits  limits
	report  *Report
	folders []folderTime
	buffer  []byte
}

func newLayer(root int, most limits, report *Report) *layer {
	return &layer{tree: tree{root: root, parent: -1}, limits: most, report: report, buffer: make([]byte, copyBytes)}
}

func (l *layer) unpack(stream io.Reader) error {
	defer l.forgetParent()
	buffered := bufio.NewReaderSize(stream, readBytes)
	archive := tar.NewReader(buffered)
	for {
		header, err := archive.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return malformed(err)
		}
		if err := l.entry(header, archive); err != nil {
			return err
		}
	}
	// Bytes after the end of the archive are part of the digest, which the platform computes while sending.
	if _, err := io.Copy(io.Discard, buffered); err != nil {
		return err
	}
	l.finish()
	return nil
}

// finish sets attributes that later entries would have changed. The caller syncs the files.
func (l *layer) finish() {
	for _, folder := range l.folders {
		if parent, name, err := l.locate(folder.path, false); err == nil {
			fsat.SetTime(parent, name, folder.at)
		}
	}
}

func (l *layer) entry(header *tar.Header, content io.Reader) error {
	if header.Typeflag == tar.TypeXGlobalHeader {
		return nil
	}
	l.report.Entries++
	if l.report.Entries > l.limits.entries {
		return &Failure{"TOO_LARGE", fmt.Sprintf("it has more than %d entries", l.limits.entries)}
	}
	name, err := cleanName(header.Name)
	if err != nil {
		return err
	}
	base := path.Base(name)
	switch {
	case name == ".":
		return l.rootFolder(header)
	case base == opaqueName:
		return l.makeOpaque(path.Dir(name))
	case strings.HasPrefix(base, reservedPrefix):
		return nil
	case strings.HasPrefix(base, whiteoutPrefix):
		return l.whiteout(path.Dir(name), strings.TrimPrefix(base, whiteoutPrefix))
	}
	switch header.Typeflag {
	case tar.TypeDir:
		return l.folder(name, header)
	case tar.TypeReg, '\x00', tar.TypeCont, tar.TypeGNUSparse:
		return l.file(name, header, content)
	case tar.TypeSymlink:
		return l.symlink(name, header)
	case tar.TypeLink:
		return l.link(name, header)
	case tar.TypeFifo:
		return l.fifo(name, header)
	case tar.TypeChar, tar.TypeBlock:
		l.report.Devices++ // a sandbox has its own /dev and can open no other devices
		return nil
	}
	return &Failure{"MALFORMED", fmt.Sprintf("%q has the unknown type %q", shown(header.Name), header.Typeflag)}
}

// cleanName rejects names that lead out of the layer or that no file system accepts.
func cleanName(name string) (string, error) {
	if strings.ContainsRune(name, 0) {
		return "", hostile(name, "has a name with NUL")
	}
	if len(name) > maxPathBytes {
		return "", hostile(name, "has a path that is too long")
	}
	if strings.HasPrefix(name, "/") && strings.Trim(name, "/.") != "" {
		return "", hostile(name, "has an absolute path")
	}
	parts := strings.Split(name, "/")
	if len(parts) > maxDepth {
		return "", hostile(name, "is nested too deeply")
	}
	for _, part := range parts {
		if part == ".." {
			return "", hostile(name, "leads out of the layer with ..")
		}
		if len(part) > maxNameBytes {
			return "", hostile(name, "has a name that is too long")
		}
	}
	return path.Clean("./" + name), nil
}

func hostile(name, what string) error {
	return &Failure{"HOSTILE", fmt.Sprintf("entry %q %s", shown(name), what)}
}

func malformed(err error) error {
	if err == io.ErrUnexpectedEOF {
		return &Failure{"MALFORMED", "the archive is truncated"}
	}
	return &Failure{"MALFORMED", "not a tar archive: " + err.Error()}
}

func shown(name string) string {
	if len(name) > 200 {
		return name[:200] + "…"
	}
	return name
}
