// Package tarseed generates seed archives for fuzz targets, and keeps fuzzed archives parseable. It is used in tests
// only.
package tarseed

import (
	"archive/tar"
	"bytes"
	"fmt"
	"math/rand"
)

const (
	blockBytes   = 512
	checksumAt   = 148
	checksumEnd  = 156
	magicAt      = 257
	magic        = "ustar"
	maxBlocks    = 4096
	seedArchives = 12
)

// The archives reuse few names, so that links, files, folders and whiteouts replace one another.
func Archives() [][]byte {
	random := rand.New(rand.NewSource(20261122))
	archives := [][]byte{}
	for range seedArchives {
		archives = append(archives, Random(random))
	}
	return append(archives, records())
}

// Random generates one archive.
func Random(random *rand.Rand) []byte {
	names := []string{"a", "b", "a/b", "a/b/c", "b/a", "up", "up/x", "abs", "abs/x", "..", "a/../..", "/", ".", "./a", "a/.wh.b",
		".wh.a", ".wh..wh..opq", "a/.wh..wh..opq", ".wh...", "up/.wh.x", "../outside", "/outside"}
	targets := []string{"..", "../..", "/", "a", "a/b", "b", "up", "../outside", "/outside", ".", "up/x"}
	types := []byte{tar.TypeReg, tar.TypeReg, tar.TypeDir, tar.TypeSymlink, tar.TypeSymlink, tar.TypeLink, tar.TypeFifo, tar.TypeChar}
	var out bytes.Buffer
	writer := tar.NewWriter(&out)
	for range 1 + random.Intn(12) {
		header := &tar.Header{Name: names[random.Intn(len(names))], Typeflag: types[random.Intn(len(types))], Mode: int64(random.Intn(0o10000)),
			Uid: random.Intn(100_000), Gid: random.Intn(100_000)}
		content := []byte{}
		switch header.Typeflag {
		case tar.TypeSymlink, tar.TypeLink:
			header.Linkname = targets[random.Intn(len(targets))]
		case tar.TypeReg:
			content = []byte("content")
			header.Size = int64(len(content))
		}
		if writer.WriteHeader(header) == nil {
			_, _ = writer.Write(content)
		}
	}
	_ = writer.Close()
	return out.Bytes()
}

// records generates an archive with extended headers, attributes and a GNU long name.
func records() []byte {
	var out bytes.Buffer
	writer := tar.NewWriter(&out)
	_ = writer.WriteHeader(&tar.Header{Name: "attributes", Typeflag: tar.TypeReg, Size: 1, Mode: 0o6755, PAXRecords: map[string]string{
		"SCHILY.xattr.user.note": "kept", "SCHILY.xattr.trusted.overlay.redirect": "/etc", "SCHILY.xattr.security.capability": string(make([]byte, 20)),
	}})
	_, _ = writer.Write([]byte("x"))
	_ = writer.WriteHeader(&tar.Header{Name: fmt.Sprintf("%0300d/file", 7), Typeflag: tar.TypeReg, Format: tar.FormatGNU})
	_ = writer.Close()
	return out.Bytes()
}

// Repair sets the checksum of every header; otherwise nearly all fuzzed archives would fail at the first one.
func Repair(archive []byte) []byte {
	out := bytes.Clone(archive)
	for at := 0; at+blockBytes <= len(out) && at < maxBlocks*blockBytes; at += blockBytes {
		block := out[at : at+blockBytes]
		if string(block[magicAt:magicAt+len(magic)]) != magic {
			continue
		}
		copy(block[checksumAt:checksumEnd], "        ")
		sum := 0
		for _, each := range block {
			sum += int(each)
		}
		copy(block[checksumAt:checksumEnd], fmt.Sprintf("%06o\x00 ", sum))
	}
	return out
}
