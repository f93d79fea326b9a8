// Package pack merges the unpacked layers of an image into one archive, as overlayfs would show them, for engines that
// store images themselves.
package pack

import (
	"archive/tar"
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"sort"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	opaqueXattr  = "trusted.overlay.opaque"
	xattrRecord  = "SCHILY.xattr."
	outputBytes  = 1 << 20
	maxXattrList = 64 << 10
)

// Run writes to standard output one archive of all layers, or of a single one with what it removes.
func Run(args []string) int {
	write := mergedLayers
	if len(args) == 2 && args[0] == "--alone" {
		write = func(_ []string, output io.Writer) error { return Layer(args[1], output) }
	}
	if err := write(args, os.Stdout); err != nil {
		os.Stderr.WriteString("sandbox-agent: pack: " + err.Error() + "\n")
		return 1
	}
	return 0
}

func mergedLayers(layers []string, output io.Writer) error {
	buffered := bufio.NewWriterSize(output, outputBytes)
	p := &packer{tar: tar.NewWriter(buffered), links: map[inode]string{}}
	if err := p.folder("", layers); err != nil {
		return err
	}
	return errors.Join(p.tar.Close(), buffered.Flush())
}

type inode struct{ device, number uint64 }

type packer struct {
	tar   *tar.Writer
	links map[inode]string
}

// folder writes the contents of a folder in all layers that are visible there, topmost first.
func (p *packer) folder(name string, layers []string) error {
	owner := map[string]int{}
	for index, layer := range layers {
		entries, err := os.ReadDir(path.Join(layer, name))
		if err != nil {
			return err
		}
		for _, entry := range entries {
			if _, covered := owner[entry.Name()]; !covered {
				owner[entry.Name()] = index
			}
		}
	}
	names := make([]string, 0, len(owner))
	for each := range owner {
		names = append(names, each)
	}
	sort.Strings(names)
	for _, each := range names {
		if err := p.entry(path.Join(name, each), layers[owner[each]:]); err != nil {
			return err
		}
	}
	return nil
}

func (p *packer) entry(name string, layers []string) error {
	file := path.Join(layers[0], name)
	info, err := os.Lstat(file)
	if err != nil {
		return err
	}
	stat, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return errors.New("no file status")
	}
	if info.Mode()&fs.ModeCharDevice != 0 && stat.Rdev == 0 { // a whiteout: hides the entry
		return nil
	}
	if info.Mode()&fs.ModeSocket != 0 { // archives cannot contain sockets
		return nil
	}
	if err := p.write(name, file, info, stat); err != nil || !info.IsDir() {
		return err
	}
	return p.folder(name, merged(name, layers))
}

// merged returns the layers whose folder of that name is visible, from the given one down.
func merged(name string, layers []string) []string {
	var found []string
	for _, layer := range layers {
		info, err := os.Lstat(path.Join(layer, name))
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
			continue
		}
		if err != nil || !info.IsDir() { // a file or whiteout hides everything below
			break
		}
		found = append(found, layer)
		if value := make([]byte, 1); opaque(path.Join(layer, name), value) {
			break
		}
	}
	return found
}

func opaque(file string, value []byte) bool {
	count, err := unix.Getxattr(file, opaqueXattr, value)
	return err == nil && count == 1 && value[0] == 'y'
}

func (p *packer) write(name, file string, info fs.FileInfo, stat *syscall.Stat_t) error {
	target := ""
	if info.Mode()&fs.ModeSymlink != 0 {
		var err error
		if target, err = os.Readlink(file); err != nil {
			return err
		}
	}
	header, err := tar.FileInfoHeader(info, target)
	if err != nil {
		return err
	}
	header.Name, header.Uname, header.Gname, header.Format = name, "", "", tar.FormatPAX
	header.AccessTime, header.ChangeTime = time.Time{}, time.Time{} // they do not belong to the content
	if info.IsDir() {
		header.Name += "/"
	}
	if info.Mode().IsRegular() && stat.Nlink > 1 {
		key := inode{uint64(stat.Dev), stat.Ino}
		if first, seen := p.links[key]; seen {
			header.Typeflag, header.Linkname, header.Size = tar.TypeLink, first, 0
			return p.tar.WriteHeader(header)
		}
		p.links[key] = name
	}
	if info.Mode().IsRegular() || info.IsDir() {
		header.PAXRecords = xattrsOf(file)
	}
	if err := p.tar.WriteHeader(header); err != nil || !info.Mode().IsRegular() {
		return err
	}
	return p.content(file)
}

func (p *packer) content(file string) error {
	content, err := os.Open(file)
	if err != nil {
		return err
	}
	defer content.Close()
	_, err = io.Copy(p.tar, content)
	return err
}

// xattrsOf leaves out the attributes of overlayfs itself.
func xattrsOf(file string) map[string]string {
	list := make([]byte, maxXattrList)
	count, err := unix.Listxattr(file, list)
	if err != nil || count <= 0 {
		return nil
	}
	found := map[string]string{}
	for name := range strings.SplitSeq(string(list[:count]), "\x00") {
		if name == "" || strings.Contains(name, ".overlay.") || !(strings.HasPrefix(name, "user.") || name == "security.capability") {
			continue
		}
		value := make([]byte, maxXattrList)
		if size, err := unix.Getxattr(file, name, value); err == nil {
			found[xattrRecord+name] = string(value[:size])
		}
	}
	return found
}
