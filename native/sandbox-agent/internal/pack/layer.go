package pack

import (
	"archive/tar"
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
)

const (
	whiteoutPrefix = ".wh."
	opaqueName     = ".wh..wh..opq"
)

// platformFiles are written at each start and are not part of an image.
var platformFiles = map[string]bool{"etc/hostname": true, "etc/hosts": true, "etc/resolv.conf": true}

// Layer writes the changes in an overlay's upper folder, or an unpacked layer, as a layer (OCI image specification, layer.md), sorted by name,
// so that equal changes yield equal layers. The overlay must have been mounted without redirects.
func Layer(upper string, output io.Writer) error {
	buffered := bufio.NewWriterSize(output, outputBytes)
	p := &packer{tar: tar.NewWriter(buffered), links: map[inode]string{}}
	if err := p.changes("", upper); err != nil {
		return err
	}
	return errors.Join(p.tar.Close(), buffered.Flush())
}

func (p *packer) changes(folder, upper string) error {
	entries, err := os.ReadDir(path.Join(upper, folder)) // sorted by name
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if err := p.change(path.Join(folder, entry.Name()), upper); err != nil {
			return err
		}
	}
	return nil
}

func (p *packer) change(name, upper string) error {
	if platformFiles[name] {
		return nil
	}
	file := path.Join(upper, name)
	info, err := os.Lstat(file)
	if err != nil {
		return err
	}
	stat, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return errors.New("no file status")
	}
	switch {
	case info.Mode()&fs.ModeSocket != 0: // archives cannot contain sockets
		return nil
	case info.Mode()&fs.ModeCharDevice != 0 && stat.Rdev == 0:
		return p.mark(path.Join(path.Dir(name), whiteoutPrefix+path.Base(name)))
	}
	if err := p.write(name, file, info, stat); err != nil || !info.IsDir() {
		return err
	}
	if opaque(file, make([]byte, 1)) {
		if err := p.mark(path.Join(name, opaqueName)); err != nil {
			return err
		}
	}
	return p.changes(name, upper)
}

func (p *packer) mark(name string) error {
	return p.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Format: tar.FormatPAX})
}
