package host

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

const (
	templateBlock    = 4096
	maxTemplates     = 8
	maxTemplateBytes = 4 << 20
)

// diskTemplate is what an empty formatted disk contains. Most of a template's data are zeros (reserved blocks), which
// a hole replaces: a disk of 2 GiB has less than 100 KiB of other data, in a few pieces.
type diskTemplate struct {
	identity templateIdentity
	pieces   []templatePiece
}

// templateIdentity distinguishes a template from a later one at the same path.
type templateIdentity struct {
	device, inode uint64
	size          int64
	changed       unix.Timespec
}

type templatePiece struct {
	offset  int64
	content []byte
}

// templateCache keeps the contents of templates in memory, by path.
type templateCache struct {
	mu   sync.Mutex
	kept map[string]*diskTemplate
}

// makeDisk creates a disk from a template, under a temporary name first.
func (c *templateCache) makeDisk(template, target string) error {
	content, err := c.read(template)
	if err != nil {
		return err
	}
	if content == nil {
		return copyDisk(template, target)
	}
	temporary := target + ".new"
	err = content.writeTo(temporary)
	if err == nil {
		err = os.Rename(temporary, target)
	}
	if err != nil {
		_ = os.Remove(temporary)
	}
	return err
}

// read returns nil for a template that is too large to be kept.
func (c *templateCache) read(template string) (*diskTemplate, error) {
	var stat unix.Stat_t
	if err := unix.Stat(template, &stat); err != nil {
		return nil, &os.PathError{Op: "stat", Path: template, Err: err}
	}
	identity := templateIdentity{device: stat.Dev, inode: stat.Ino, size: stat.Size, changed: stat.Ctim}
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.kept[template]; known != nil && known.identity == identity {
		return known, nil
	}
	pieces, err := readPieces(template)
	if err != nil || pieces == nil {
		return nil, err
	}
	if c.kept == nil || len(c.kept) >= maxTemplates {
		c.kept = map[string]*diskTemplate{}
	}
	made := &diskTemplate{identity: identity, pieces: pieces}
	c.kept[template] = made
	return made, nil
}

// readPieces returns the blocks that are not zero, adjacent ones together, or nil if there are too many.
func readPieces(template string) ([]templatePiece, error) {
	file, err := os.Open(template)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	pieces, total, block, zeros := []templatePiece{}, 0, make([]byte, templateBlock), make([]byte, templateBlock)
	for offset := int64(0); ; offset += templateBlock {
		// A hole is skipped; SEEK_DATA fails with ENXIO behind the last data.
		data, err := unix.Seek(int(file.Fd()), offset, unix.SEEK_DATA)
		if err == unix.ENXIO {
			return pieces, nil
		}
		if err != nil {
			return nil, err
		}
		offset = data &^ (templateBlock - 1)
		length, err := file.ReadAt(block, offset)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		content := block[:length]
		if bytes.Equal(content, zeros[:length]) {
			continue
		}
		if total += length; total > maxTemplateBytes {
			return nil, nil
		}
		if last := len(pieces) - 1; last >= 0 && pieces[last].offset+int64(len(pieces[last].content)) == offset {
			pieces[last].content = append(pieces[last].content, content...)
		} else {
			pieces = append(pieces, templatePiece{offset: offset, content: bytes.Clone(content)})
		}
	}
}

func (t *diskTemplate) writeTo(name string) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := file.Truncate(t.identity.size); err != nil {
		return err
	}
	for _, piece := range t.pieces {
		if _, err := file.WriteAt(piece.content, piece.offset); err != nil {
			return err
		}
	}
	return nil
}
