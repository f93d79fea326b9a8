package agent

import "golang.org/x/sys/unix"

// precondition says what must be at the path for a write to replace it.
type precondition struct {
	// Absent requires that nothing exists.
	Absent bool `json:"absent"`
	// Present requires that something exists.
	Present bool `json:"present"`
	// Versions requires one of these versions.
	Versions []version `json:"versions"`
}

// version identifies the content of a file by its directory entry.
type version struct {
	// A float64, as it passed through JSON: some file systems use numbers that are too long to be exact.
	Inode   float64 `json:"inode"`
	Size    int64   `json:"size"`
	ModTime string  `json:"mod_time"`
}

func (p *precondition) holds(found *unix.Stat_t) bool {
	if p == nil {
		return true
	}
	if found == nil || p.Absent {
		return found == nil && p.Absent
	}
	e := entryOf("", found)
	for _, v := range p.Versions {
		if v == (version{Inode: float64(e.Inode), Size: e.Size, ModTime: e.ModTime}) {
			return true
		}
	}
	return p.Present
}
