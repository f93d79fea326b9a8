package host

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"svc.dev/sandbox-agent/internal/cgroup"
)

// mountPoints of a place, topmost first. Layers are mounted below /layers.
var mountPoints = [...]string{"/rootfs", "/disk"}

// numberedPlaces have a mount point for each layer and each volume.
var numberedPlaces = [...]string{"/layers", "/volumes"}

const (
	maxStopWait = 120 * time.Second
	termEvery   = 100 * time.Millisecond
)

func (h *host) folder(sandbox string) string { return h.path("sandboxes") + "/" + sandbox }

// place returns the folder in which a sandbox's root is assembled: in memory and visible to this process only, or, for
// a runtime that must find it later, in the run folder.
func (h *host) place(sandbox, runtimeKind string) string {
	if runtimeKind == "builtin" {
		return h.path("roots") + "/" + sandbox
	}
	return h.folder(sandbox)
}

func (h *host) socket(sandbox string) string { return h.folder(sandbox) + "/agent.sock" }

func (h *host) facts() any {
	return map[string]any{"cgroups": h.cgroups.version, "controllers": h.cgroups.controllers(), "pid": os.Getpid()}
}

func (l *cgroupLayout) controllers() []string {
	names := []string{}
	for name := range l.hierarchies {
		names = append(names, name)
	}
	return names
}

func (h *host) writeState(s *state) error {
	content, err := json.Marshal(s)
	if err != nil {
		return step("write the state", err)
	}
	file := h.folder(s.Sandbox) + "/state.json"
	if err := os.WriteFile(file+".new", content, 0o600); err != nil {
		return step("write the state", err)
	}
	return step("write the state", os.Rename(file+".new", file))
}

func (h *host) readState(sandbox string) (*state, error) {
	content, err := os.ReadFile(h.folder(sandbox) + "/state.json")
	if err != nil {
		return nil, err
	}
	s, err := decode[state](content)
	return &s, err
}

type report struct {
	state
	Alive    bool  `json:"alive"`
	Paused   bool  `json:"paused"`
	OomKills int64 `json:"oom_kills"`
}

func (h *host) inspect(sandbox string) (*report, error) {
	s, err := h.readState(sandbox)
	if err != nil {
		return &report{state: state{Sandbox: sandbox, Slot: -1}}, nil
	}
	return &report{state: *s, Alive: alive(s), Paused: h.cgroups.frozen(sandbox), OomKills: h.cgroups.group(sandbox).OOMKills()}, nil
}

func (h *host) list() (any, error) {
	entries, err := os.ReadDir(h.path("sandboxes"))
	if err != nil {
		return nil, step("list sandboxes", err)
	}
	reports := make([]*report, 0, len(entries))
	for _, entry := range entries {
		if !validID(entry.Name()) {
			continue
		}
		one, err := h.inspect(entry.Name())
		if err != nil {
			return nil, err
		}
		reports = append(reports, one)
	}
	return map[string]any{"sandboxes": reports}, nil
}

func (h *host) stats(sandbox string) (any, error) {
	s, err := h.readState(sandbox)
	if err != nil {
		return nil, step("read the state", err)
	}
	l := &h.cgroups
	usage := l.group(sandbox).Usage()
	if l.version != "v2" && usage.CPUMicroseconds == cgroup.Unknown {
		usage.CPUMicroseconds = cpuMicroseconds(l.processes(sandbox))
	}
	out := map[string]any{
		"alive":        alive(s),
		"oom_kills":    usage.OOMKills,
		"memory_bytes": usage.MemoryBytes,
		"pids":         usage.Pids,
		"cpu_us":       usage.CPUMicroseconds,
	}
	if s.Kind == "runsc" {
		out["pids"] = -1 // the count would include gVisor's own processes besides those inside
	}
	if used := l.diskBytes(s); used >= 0 {
		out["disk_bytes"] = used
	}
	out["volume_bytes"] = s.volumeBytes()
	return out, nil
}

// diskBytes reads the root of the first process. For gVisor that root is empty, and another process of the group has
// the files.
func (l *cgroupLayout) diskBytes(s *state) int64 {
	pids := []int{s.Pid}
	if s.Kind == "runsc" {
		pids = l.processes(s.Sandbox)
	}
	for _, pid := range pids {
		var disk unix.Statfs_t
		if unix.Statfs("/proc/"+strconv.Itoa(pid)+"/root", &disk) == nil && disk.Type == unix.OVERLAYFS_SUPER_MAGIC {
			return int64(disk.Blocks-disk.Bfree) * int64(disk.Bsize)
		}
	}
	return -1
}

// stop asks the helper to shut down, waits, and then kills. It returns when no process of the sandbox is running.
func (h *host) stop(sandbox string, timeoutMs int) (any, error) {
	s, err := h.readState(sandbox)
	if err == nil && s.Pid > 1 && s.PreparedDisk == "" { // a prepared start has nothing to shut down and handles no signals
		if err := h.cgroups.thaw(sandbox); err != nil { // frozen processes do not receive signals
			return nil, err
		}
		if fd, err := pidfd(s); err == nil {
			// Repeated, because a starting first process does not handle signals yet.
			limit := min(time.Duration(timeoutMs)*time.Millisecond, maxStopWait)
			for waited := time.Duration(0); waited < limit; waited += termEvery {
				signalPidfd(fd, unix.SIGTERM)
				if waitPidfd(fd, min(termEvery, limit-waited)) {
					break
				}
			}
			_ = unix.Close(fd)
		}
	}
	return h.clean(sandbox)
}

// clean kills what is still running and removes everything except the disk. It can be repeated, and works for a sandbox
// that never started.
func (h *host) clean(sandbox string) (any, error) {
	if ready := h.prepared.take(sandbox); ready != nil {
		ready.close()
	}
	folder := h.folder(sandbox)
	// Every start creates this folder first. Without it, a group of this name belongs to another platform of this
	// machine, whose sandbox keeps running.
	if !folderExists(folder) {
		return map[string]any{}, nil
	}
	s, err := h.readState(sandbox)
	if err == nil && s.Pid > 1 {
		if fd, err := pidfd(s); err == nil {
			signalPidfd(fd, unix.SIGKILL)
			_ = h.cgroups.thaw(sandbox) // a frozen process of v1 dies when thawed, before it executes anything
			waitPidfd(fd, 5*time.Second)
			_ = unix.Close(fd)
		}
	}
	if err := h.cgroups.kill(sandbox); err != nil {
		return nil, err
	}
	if s != nil && (s.Kind == "runc" || s.Kind == "runsc") {
		h.deleteWithRuntime(s)
	}
	for _, place := range [...]string{h.place(sandbox, "builtin"), folder} {
		if err := unmountRoot(place); err != nil {
			return nil, err
		}
		if err := emptyPlace(place); err != nil {
			return nil, err
		}
	}
	_ = unix.Rmdir(h.place(sandbox, "builtin")) // the other place is removed below
	if err := h.cgroups.remove(sandbox); err != nil {
		return nil, err
	}
	if s != nil {
		if s.PreparedDisk != "" {
			_ = os.Remove(s.PreparedDisk)
		}
		if s.Network == "egress" {
			h.disconnect(s.Slot)
			if s.Nft != "" {
				if err := h.unrestrict(s.Nft, s.Slot); err != nil {
					return nil, err
				}
			}
		}
		h.slots.release(s.Slot, folder)
	} else if folderExists(folder) {
		h.slots.releaseAll(folder)
	}
	_ = os.RemoveAll(h.path("runtime") + "/" + sandbox)
	return map[string]any{}, removeFolder(folder)
}

// emptyPlace never recurses: if something were still mounted below, it would be deleted.
func emptyPlace(place string) error {
	directories := []string{"/rootfs", "/disk", "/image"} // /image: for launchers that supported one layer only
	for _, numbered := range numberedPlaces {
		entries, err := os.ReadDir(place + numbered)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return step("list the leftover mount points", err)
		}
		for _, entry := range entries {
			directories = append(directories, numbered+"/"+entry.Name())
		}
		directories = append(directories, numbered)
	}
	for _, directory := range directories {
		if err := unix.Rmdir(place + directory); err != nil && err != unix.ENOENT {
			return step("remove "+directory, err)
		}
	}
	return nil
}

func removeFolder(folder string) error {
	if _, err := os.Lstat(folder); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, file := range []string{"agent.sock", "config.json", "pid", "log", "state.json", "state.json.new"} {
		if err := unix.Unlink(folder + "/" + file); err != nil && err != unix.ENOENT {
			return step("remove "+file, err)
		}
	}
	return step("remove the run folder", unix.Rmdir(folder))
}

// deleteWithRuntime makes runc remove the cgroups that it created in hierarchies not used here, and runsc its sockets.
func (h *host) deleteWithRuntime(s *state) {
	argv := []string{filepath.Base(s.Runtime), "--root", h.path("runtime"), "delete", "--force", s.Sandbox}
	_, done, err := h.reaper.Start(s.Runtime, argv, &syscall.ProcAttr{Env: []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}, Files: []uintptr{}})
	if err == nil {
		<-done
	}
}

// startTicks distinguishes a process from a later one with the same PID (proc(5), field 22 of stat).
func startTicks(pid int) (uint64, error) {
	content, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, err
	}
	return startTicksIn(string(content))
}

// startTicksIn parses /proc/PID/stat, whose second field is the program's name in parentheses and may contain anything.
func startTicksIn(stat string) (uint64, error) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 {
		return 0, errors.New("unexpected /proc/pid/stat")
	}
	if fields[0] == "Z" || fields[0] == "X" {
		return 0, unix.ESRCH
	}
	return strconv.ParseUint(fields[19], 10, 64)
}

func alive(s *state) bool {
	if s.Pid <= 1 {
		return false
	}
	ticks, err := startTicks(s.Pid)
	return err == nil && ticks == s.StartTicks
}

// pidfd pins the process: its start time is checked after the pidfd is opened, so a reused PID is never signaled.
func pidfd(s *state) (int, error) {
	fd, err := unix.PidfdOpen(s.Pid, 0)
	if err != nil {
		return 0, err
	}
	if !alive(s) {
		_ = unix.Close(fd)
		return 0, unix.ESRCH
	}
	return fd, nil
}

func signalPidfd(fd int, signal unix.Signal) {
	_ = unix.PidfdSendSignal(fd, signal, nil, 0)
}

// waitPidfd reports whether the process has ended.
func waitPidfd(fd int, timeout time.Duration) bool {
	limit := unix.NsecToTimespec(int64(timeout))
	ready, _ := unix.Ppoll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, &limit, nil)
	return ready == 1
}

// cpuMicroseconds sums the CPU time of running processes, for groups without a counter (v1 without cpuacct).
func cpuMicroseconds(pids []int) int64 {
	const ticksPerSecond = 100
	total := int64(0)
	for _, pid := range pids {
		content, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil {
			continue
		}
		text := string(content)
		fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
		if len(fields) < 13 {
			continue
		}
		for _, field := range fields[11:13] {
			ticks, _ := strconv.ParseInt(field, 10, 64)
			total += ticks * 1_000_000 / ticksPerSecond
		}
	}
	return total
}
