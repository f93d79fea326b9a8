package agent

import (
	"encoding/binary"
	"encoding/json"
	"os"
	"path"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"svc.dev/sandbox-agent/internal/frame"
)

const (
	watchedEvents = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MODIFY | unix.IN_ATTRIB | unix.IN_MOVED_FROM |
		unix.IN_MOVED_TO | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF
	inotifyHead = unix.SizeofInotifyEvent
	// moveWait is how long the second half of a move may take. After that, the file was moved into or out of the
	// watched folder.
	moveWait     = 20 * time.Millisecond
	watchBuffer  = 64 << 10
	mostWatches  = 65_536
	maxScanDepth = 256
)

// fileChange is one line of the stream.
type fileChange struct {
	Type       string `json:"type"`
	Path       string `json:"path,omitempty"`
	PathBase64 string `json:"path_b64,omitempty"`
	From       string `json:"from,omitempty"`
	IsDir      bool   `json:"is_dir"`
	Reason     string `json:"reason,omitempty"`
	// Written is set if the platform replaced the file atomically.
	Written bool `json:"written,omitempty"`
}

// watcher watches a folder or a tree with inotify. Changes that the platform does not accept in time wait in the
// kernel's queue, which is bounded and reports an overflow.
type watcher struct {
	stream    *stream
	queue     *os.File
	fd        int
	root      string
	recursive bool
	most      int
	paths     map[int32]string
	watches   map[string]int32
	full      bool
	left      *fileChange
	cookie    uint32
	changed   map[string]struct{}
	line      []byte
}

// watchFiles sends one JSON object per line until the stream is reset or the watched path is gone.
func watchFiles(s *stream, r *request) (any, *failure) {
	if failed := checkPath(r.Path); failed != nil {
		return nil, failed
	}
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		if err == unix.EMFILE {
			return nil, fail("LIMIT_REACHED", "too many watches in this sandbox")
		}
		return nil, fromError(err)
	}
	w := &watcher{
		stream: s, queue: os.NewFile(uintptr(fd), "inotify"), fd: fd, root: path.Clean(r.Path), recursive: r.Recursive,
		most: min(max(r.MaxWatches, 1), mostWatches), paths: map[int32]string{}, watches: map[string]int32{},
	}
	defer w.queue.Close()
	number, err := unix.InotifyAddWatch(fd, w.root, watchedEvents)
	if err != nil {
		if err == unix.ENOSPC {
			return nil, fail("LIMIT_REACHED", "too many watches on this machine")
		}
		return nil, fromError(err)
	}
	w.remember(int32(number), w.root)
	if w.recursive && isDirectory(w.root) {
		w.enter(w.root, 0, false)
	}
	s.event(map[string]any{"type": "watching", "watches": len(w.paths)})
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-s.done:
			_ = w.queue.SetReadDeadline(time.Unix(1, 0))
		case <-over:
		}
	}()
	if w.full {
		w.add(fileChange{Type: "overflow", Reason: "too many folders: not all of them are watched"})
	}
	return w.follow()
}

func (w *watcher) follow() (any, *failure) {
	buffer := make([]byte, watchBuffer)
	for {
		if !w.flush() {
			return nil, fail("ABORTED", errAborted.Error())
		}
		if w.left != nil {
			_ = w.queue.SetReadDeadline(time.Now().Add(moveWait))
		} else {
			_ = w.queue.SetReadDeadline(time.Time{})
		}
		select {
		case <-w.stream.done:
			return nil, fail("ABORTED", errAborted.Error())
		default:
		}
		n, err := w.queue.Read(buffer)
		if os.IsTimeout(err) {
			w.settle()
			continue
		}
		if err != nil {
			return nil, fromError(err)
		}
		w.changed = map[string]struct{}{}
		for at := 0; at+inotifyHead <= n; {
			event := readEvent(buffer[at:])
			end := at + inotifyHead + int(event.Len)
			name := strings.TrimRight(string(buffer[at+inotifyHead:min(end, n)]), "\x00")
			if w.handleEvent(event.Wd, event.Mask, event.Cookie, name) {
				w.settle()
				w.flush()
				return map[string]any{"gone": true}, nil
			}
			at = end
		}
	}
}

// readEvent decodes the fixed-size part of an event; the name follows it.
func readEvent(from []byte) unix.InotifyEvent {
	field := func(at int) uint32 { return binary.NativeEndian.Uint32(from[at:]) }
	return unix.InotifyEvent{Wd: int32(field(0)), Mask: field(4), Cookie: field(8), Len: field(12)}
}

// handleEvent returns true once the watched path is gone.
func (w *watcher) handleEvent(number int32, mask, cookie uint32, name string) bool {
	if mask&unix.IN_Q_OVERFLOW != 0 {
		w.settle()
		w.add(fileChange{Type: "overflow", Reason: "too many changes at once: some were not told"})
		return false
	}
	folder, known := w.paths[number]
	if !known {
		return false
	}
	if mask&(unix.IN_IGNORED|unix.IN_DELETE_SELF|unix.IN_MOVE_SELF|unix.IN_UNMOUNT) != 0 {
		return w.lost(number, folder, mask)
	}
	full, isDir := folder, mask&unix.IN_ISDIR != 0
	if name != "" {
		full = path.Join(folder, name)
	}
	if w.left != nil && (mask&unix.IN_MOVED_TO == 0 || cookie != w.cookie) {
		w.settle()
	}
	switch {
	case mask&unix.IN_CREATE != 0:
		w.add(change("created", full, isDir))
		w.follows(full, isDir, true)
	case mask&unix.IN_DELETE != 0:
		w.add(change("removed", full, isDir))
	case mask&unix.IN_MOVED_FROM != 0:
		left := change("removed", full, isDir)
		w.left, w.cookie = &left, cookie
	case mask&unix.IN_MOVED_TO != 0:
		w.arrived(full, isDir)
	default:
		if _, told := w.changed[full]; !told {
			w.changed[full] = struct{}{}
			w.add(change("changed", full, isDir))
		}
	}
	return false
}

func (w *watcher) arrived(full string, isDir bool) {
	moved := change("created", full, isDir)
	if w.left != nil && !isTemporary(w.left.Path) {
		moved.Type, moved.From = "moved", w.left.Path
		w.renameBelow(w.left.Path, full)
	} else if w.left != nil && !isDir { // written by the platform under a temporary name
		moved.Written = true
		if !strings.Contains(w.left.Path, "/"+createPrefix) {
			moved.Type = "changed"
		}
	}
	w.left = nil
	w.add(moved)
	w.follows(full, isDir, moved.Type == "created")
}

// settle reports a move whose other half did not arrive: the file left the watched folder.
func (w *watcher) settle() {
	if w.left == nil {
		return
	}
	left := *w.left
	w.left = nil
	w.add(left)
	if left.IsDir {
		for name, number := range w.watches {
			if name == left.Path || strings.HasPrefix(name, left.Path+"/") {
				_, _ = unix.InotifyRmWatch(w.fd, uint32(number))
				w.forget(number)
			}
		}
	}
}

func (w *watcher) lost(number int32, folder string, mask uint32) bool {
	if mask&unix.IN_MOVE_SELF != 0 && folder != w.root {
		return false // its parent folder reports it
	}
	w.forget(number)
	if folder != w.root {
		return false
	}
	w.add(change("removed", w.root, false))
	return true
}

func (w *watcher) renameBelow(from, to string) {
	for name, number := range w.watches {
		if name == from || strings.HasPrefix(name, from+"/") {
			delete(w.watches, name)
			w.remember(number, to+strings.TrimPrefix(name, from))
		}
	}
}

// follows watches a new folder and reports what was created in it before the watch began.
func (w *watcher) follows(folder string, isDir, tell bool) {
	if !isDir || !w.recursive || isTemporary(folder) {
		return
	}
	if _, known := w.watches[folder]; !known && w.watch(folder) {
		w.enter(folder, 0, tell)
	}
}

func (w *watcher) watch(folder string) bool {
	if len(w.paths) >= w.most {
		w.overflow()
		return false
	}
	mask := uint32(watchedEvents | unix.IN_ONLYDIR | unix.IN_DONT_FOLLOW)
	number, err := unix.InotifyAddWatch(w.fd, folder, mask)
	if err == unix.ENOSPC || err == unix.ENOMEM {
		w.overflow()
	}
	if err != nil {
		return false
	}
	w.remember(int32(number), folder)
	return true
}

func (w *watcher) overflow() {
	if !w.full {
		w.full = true
		w.add(fileChange{Type: "overflow", Reason: "too many folders: not all of them are watched"})
	}
}

func (w *watcher) enter(folder string, depth int, tell bool) {
	handle, err := openDirectory(folder)
	if err != nil || depth > maxScanDepth {
		if err == nil {
			_ = handle.Close()
		}
		return
	}
	defer handle.Close()
	for {
		batch, err := handle.ReadDir(1024)
		for _, item := range batch {
			full := path.Join(folder, item.Name())
			if tell {
				w.add(change("created", full, item.IsDir()))
			}
			if item.IsDir() && w.watch(full) {
				w.enter(full, depth+1, tell)
			}
		}
		if err != nil || len(batch) == 0 {
			return
		}
	}
}

func (w *watcher) remember(number int32, name string) {
	w.paths[number], w.watches[name] = name, number
}

func (w *watcher) forget(number int32) {
	delete(w.watches, w.paths[number])
	delete(w.paths, number)
}

// isTemporary reports whether the file is an unfinished transfer, which clients must not see.
func isTemporary(full string) bool {
	return strings.Contains(full, "/"+writePrefix) || strings.Contains(full, "/"+stagingPrefix)
}

func change(kind, full string, isDir bool) fileChange {
	return fileChange{Type: kind, Path: full, PathBase64: rawName(full), IsDir: isDir}
}

// add appends a change and sends the frame when it is full, which waits for credit.
func (w *watcher) add(one fileChange) {
	if isTemporary(one.Path) {
		return
	}
	encoded, err := json.Marshal(one)
	if err != nil {
		return
	}
	w.line = append(append(w.line, encoded...), '\n')
	if len(w.line) > frame.MaxDataBytes/2 {
		w.flush()
	}
}

func (w *watcher) flush() bool {
	for len(w.line) > 0 {
		buffer := make([]byte, dataHead+min(len(w.line), frame.MaxDataBytes-1))
		n := copy(buffer[dataHead:], w.line)
		if !w.stream.sendData(channelStdout, buffer, n) {
			w.line = nil
			return false
		}
		w.line = w.line[n:]
	}
	w.line = w.line[:0]
	return true
}
