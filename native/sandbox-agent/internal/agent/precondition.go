package agent

import "golang.org/x/sys/unix"

// precondition is what a file must be for a write to replace it.
type precondition struct {
	// Nothing may be there.
	Absent bool `json:"absent"`
	// Something must be there, whatever it is.
	Present bool `json:"present"`
	// One of these must be there.
	Versions []version `json:"versions"`
}

// version identifies the content of a file by its entry.
type version struct {
	// As JSON carries it to the platform and back: a number that some file systems make longer than it can be exact.
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
