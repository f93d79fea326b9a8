package agent

import (
	"archive/tar"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"svc.dev/sandbox-agent/internal/frame"
	"svc.dev/sandbox-agent/internal/fsat"
)

const (
	maxArchiveDepth = 256
	// Further hard links are sent as separate files.
	maxKnownLinks = 65_536
	writePrefix   = ".svc-write-"
	// createPrefix tells watchers that the file did not exist before.
	createPrefix  = writePrefix + "new-"
	stagingPrefix = ".svc-tar-"
)

// sendArchive streams a folder as a tar archive. Of other file systems below it, such as /proc, only the mount point is
// included. Files that a user cannot restore from a tar archive are skipped: devices, FIFOs and sockets.
func sendArchive(s *stream, r *request) (any, *failure) {
	if failed := checkPath(r.Path); failed != nil {
		return nil, failed
	}
	fd, err := unix.Open(r.Path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fromError(err)
	}
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		_ = unix.Close(fd)
		return nil, fromError(err)
	}
	s.event(map[string]any{"type": "begun"})
	out := &dataWriter{stream: s, buffer: make([]byte, dataHead+frame.MaxDataBytes-1)}
	p := &packer{archive: tar.NewWriter(out), device: uint64(stat.Dev), links: map[fileID]string{}, buffer: make([]byte, 64<<10)}
	err = p.folder(fd, "", 0)
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

// dataWriter collects small writes into frames and waits until the platform accepts them.
type dataWriter struct {
	stream *stream
	buffer []byte
	used   int
	sent   int64
}

func (w *dataWriter) Write(p []byte) (int, error) {
	written := 0
	for written < len(p) {
		n := copy(w.buffer[dataHead+w.used:], p[written:])
		w.used, written = w.used+n, written+n
		if dataHead+w.used == len(w.buffer) {
			if err := w.flush(); err != nil {
				return written, err
			}
		}
	}
	return written, nil
}

func (w *dataWriter) flush() error {
	if w.used == 0 {
		return nil
	}
	if !w.stream.sendData(channelStdout, w.buffer, w.used) {
		return errAborted
	}
	w.sent, w.used = w.sent+int64(w.used), 0
	return nil
}

// fileID identifies a file. Files of one overlay may report several devices.
type fileID struct{ device, inode uint64 }

type packer struct {
	archive *tar.Writer
	// device is the file system that is archived.
	device uint64
	// root is set for the archive of a whole root; nil for a folder's.
	root    *rootLimits
	links   map[fileID]string
	buffer  []byte
	entries int64
	skipped int64
}

// folder takes ownership of the descriptor.
func (p *packer) folder(fd int, prefix string, depth int) error {
	handle := os.NewFile(uintptr(fd), prefix)
	defer handle.Close()
	if depth > maxArchiveDepth {
		return fail("TOO_MANY_ENTRIES", prefix+" is nested too deeply for an archive")
	}
	for {
		names, err := handle.Readdirnames(1024)
		for _, name := range names {
			if strings.HasPrefix(name, writePrefix) || strings.HasPrefix(name, stagingPrefix) {
				continue // an unfinished transfer
			}
			if depth == 0 && p.root != nil && p.root.only != nil && !p.root.only[name] {
				continue
			}
			if err := p.entry(fd, prefix, name, depth); err != nil {
				return err
			}
		}
		if err == io.EOF || (err == nil && len(names) == 0) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (p *packer) entry(folder int, prefix, name string, depth int) error {
	stat, err := fsat.Lstat(folder, name)
	if err == unix.ENOENT {
		return nil // removed in the meantime
	}
	if err != nil {
		return err
	}
	header := &tar.Header{
		Name: prefix + name, Mode: int64(stat.Mode & 0o7777), Uid: int(stat.Uid), Gid: int(stat.Gid),
		ModTime: time.Unix(int64(stat.Mtim.Sec), int64(stat.Mtim.Nsec)),
	}
	kind := stat.Mode & unix.S_IFMT
	if p.root != nil {
		if p.root.mounts["/"+header.Name] && kind != unix.S_IFDIR {
			return nil // such as /etc/hosts, which each sandbox has for itself
		}
		if kind == unix.S_IFIFO {
			header.Typeflag = tar.TypeFifo
			return p.write(header)
		}
	}
	switch kind {
	case unix.S_IFDIR:
		return p.subfolder(folder, name, header, depth)
	case unix.S_IFREG:
		return p.file(folder, name, header)
	case unix.S_IFLNK:
		target, err := fsat.ReadLink(folder, name)
		if err == unix.ENOENT || err == unix.EINVAL {
			return nil // replaced in the meantime
		}
		if err != nil {
			return err
		}
		header.Typeflag, header.Linkname = tar.TypeSymlink, target
		return p.write(header)
	}
	p.skipped++
	return nil
}

func (p *packer) subfolder(folder int, name string, header *tar.Header, depth int) error {
	fd, err := fsat.OpenFolder(folder, name)
	if err == unix.ENOENT || err == unix.ENOTDIR || err == unix.ELOOP {
		return nil
	}
	if err != nil {
		return err
	}
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		_ = unix.Close(fd)
		return err
	}
	isMount := uint64(stat.Dev) != p.device
	if p.root != nil {
		isMount = p.root.mounts["/"+header.Name]
		header.PAXRecords = attributeRecords(fd)
	}
	header.Typeflag, header.Name = tar.TypeDir, header.Name+"/"
	if err := p.write(header); err != nil || isMount {
		_ = unix.Close(fd)
		return err
	}
	return p.folder(fd, header.Name, depth+1)
}

func (p *packer) file(folder int, name string, header *tar.Header) error {
	flags := unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOFOLLOW | unix.O_NOCTTY | unix.O_CLOEXEC
	fd, err := unix.Openat(folder, name, flags, 0)
	if err == unix.ENOENT || err == unix.ELOOP || err == unix.ENXIO {
		return nil
	}
	if err != nil {
		return fail(fromError(err).Code, header.Name+": "+err.Error())
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return err
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFREG {
		p.skipped++
		return nil
	}
	header.Typeflag = tar.TypeReg
	if stat.Nlink > 1 {
		id := fileID{uint64(stat.Dev), stat.Ino}
		if first, known := p.links[id]; known {
			header.Typeflag, header.Linkname = tar.TypeLink, first
			return p.write(header)
		}
		if len(p.links) < maxKnownLinks {
			p.links[id] = header.Name
		}
	}
	header.Size = stat.Size
	if p.root != nil {
		header.PAXRecords = attributeRecords(fd)
		if p.root.bytes += stat.Size; p.root.bytes > p.root.maxBytes {
			return archiveTooLarge(fmt.Sprintf("its files have more than %d bytes", p.root.maxBytes))
		}
	}
	if err := p.write(header); err != nil || p.archive == nil {
		return err
	}
	return p.content(fd, header)
}

// content writes exactly as many bytes as the header says: growth since then is left out, and a truncated file ends the
// archive.
func (p *packer) content(fd int, header *tar.Header) error {
	for left := header.Size; left > 0; {
		n, err := unix.Read(fd, p.buffer[:min(left, int64(len(p.buffer)))])
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		if n == 0 {
			return fail("IO_ERROR", header.Name+" was truncated while it was read")
		}
		if _, err := p.archive.Write(p.buffer[:n]); err != nil {
			return err
		}
		left -= int64(n)
	}
	return nil
}

func (p *packer) write(header *tar.Header) error {
	p.entries++
	if p.root != nil && p.entries > p.root.maxEntries {
		return archiveTooLarge(fmt.Sprintf("it has more than %d files", p.root.maxEntries))
	}
	if p.archive == nil {
		return nil // only measured
	}
	if p.root != nil {
		header.Format = tar.FormatPAX // for exact times
	}
	return p.archive.WriteHeader(header)
}
