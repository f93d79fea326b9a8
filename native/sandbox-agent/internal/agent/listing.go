package agent

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

const (
	maxListLimit   = 1000
	maxListBytes   = 512 << 10
	maxListEntries = 200_000
)

// listDirectory returns one page: directories first, then other entries, each in byte order. The cursor is the last
// returned key, so a page never repeats or skips an entry that still exists.
func listDirectory(r *request) (any, *failure) {
	if failed := checkPath(r.Path); failed != nil {
		return nil, failed
	}
	directory := path.Clean(r.Path)
	if !isDirectory(directory) {
		if _, err := os.Lstat(directory); err != nil {
			return nil, fromError(err)
		}
		return nil, fail("NOT_A_DIRECTORY", directory+" is not a directory")
	}
	keys, failed := sortedKeys(directory)
	if failed != nil {
		return nil, failed
	}
	limit := r.Limit
	if limit <= 0 || limit > maxListLimit {
		limit = maxListLimit
	}
	cursor, err := base64.RawURLEncoding.DecodeString(r.Cursor)
	if err != nil {
		return nil, fail("INVALID_CURSOR", "the cursor is not from this listing")
	}
	start, found := slices.BinarySearch(keys, string(cursor))
	if found {
		start++
	}
	entries := make([]entry, 0, min(limit, len(keys)-start))
	bytes, next := 0, ""
	for index := start; index < len(keys); index++ {
		e, err := describe(directory, keys[index][1:], r.AttributesBelow)
		if err != nil {
			continue // removed in the meantime
		}
		encoded, _ := json.Marshal(e)
		if len(entries) == limit || (bytes+len(encoded) > maxListBytes && len(entries) > 0) {
			next = keys[index-1]
			break
		}
		bytes += len(encoded)
		entries = append(entries, e)
	}
	return map[string]any{"entries": entries, "next_cursor": base64.RawURLEncoding.EncodeToString([]byte(next)), "total": len(keys)}, nil
}

// openDirectory never waits: a program may have put a FIFO in the place of a directory that was there a moment ago.
func openDirectory(name string) (*os.File, error) {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// sortedKeys prefixes each name with `d` or `f`, which sorts directories first.
func sortedKeys(directory string) ([]string, *failure) {
	handle, err := openDirectory(directory)
	if err != nil {
		return nil, fromError(err)
	}
	defer handle.Close()
	var keys []string
	for {
		batch, err := handle.ReadDir(1024)
		for _, item := range batch {
			kind := "f"
			if item.IsDir() {
				kind = "d"
			}
			keys = append(keys, kind+item.Name())
		}
		if len(keys) > maxListEntries {
			return nil, fail("TOO_MANY_ENTRIES", directory+" has too many entries to list")
		}
		if err != nil || len(batch) == 0 {
			break
		}
	}
	slices.SortFunc(keys, strings.Compare)
	return keys, nil
}

// rawName is set only if the name is not valid UTF-8 and JSON cannot represent it.
func rawName(name string) string {
	if utf8.ValidString(name) {
		return ""
	}
	return base64.StdEncoding.EncodeToString([]byte(name))
}
