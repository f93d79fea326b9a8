package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const maxComplaintBytes = 4096

// state is stored in the run folder of a running sandbox. The folder is in memory and is lost with a reboot.
type state struct {
	Sandbox    string `json:"sandbox"`
	Pid        int    `json:"pid"`
	StartTicks uint64 `json:"start_ticks"`
	Slot       int    `json:"slot"`
	Runtime    string `json:"runtime"`
	Kind       string `json:"runtime_kind"`
	Network    string `json:"network"`
	Socket     string `json:"socket"`
	Address    string `json:"address,omitempty"`
	// PreparedDisk is set while a prepared start is unused: the file that becomes its disk.
	PreparedDisk string `json:"prepared_disk,omitempty"`
	// Nft is set if the sandbox has its own firewall table.
	Nft string `json:"nft,omitempty"`
	// Volumes are the mounted volumes.
	Volumes []volume `json:"volumes,omitempty"`
	// ServesVolume: it is no sandbox, but serves the files of its volume.
	ServesVolume bool `json:"serves_volume,omitempty"`
}

// start starts a sandbox. A failed start is undone before start returns, except for the disk.
func (h *host) start(sandbox string, p *plan) (*state, error) {
	h.mounting.RLock()
	defer h.mounting.RUnlock()
	if p.ServesVolume {
		if len(p.Volumes) != 1 || p.RuntimeKind != "builtin" {
			return nil, step("read a request", errors.New("only the builtin runtime serves a volume, and only one"))
		}
	} else if err := h.assertFree(sandbox, p.Volumes); err != nil {
		return nil, err
	}
	if ready := h.prepared.take(sandbox); ready != nil {
		started, err := h.startPrepared(ready, p)
		if err == nil {
			return started, nil
		}
		os.Stderr.WriteString("the prepared start was not usable: " + err.Error() + "\n")
	} else if known, err := h.readState(sandbox); err == nil && known.PreparedDisk == "" && alive(known) {
		return known, nil
	}
	if _, err := h.clean(sandbox); err != nil {
		return nil, err
	}
	started, err := h.tryStart(sandbox, p)
	if err != nil {
		if _, cleaning := h.clean(sandbox); cleaning != nil {
			return nil, fmt.Errorf("%w (and then: %s)", err, cleaning.Error())
		}
		return nil, err
	}
	return started, nil
}

// claimFolder creates the run folder and assigns a slot. The disk is that of a prepared start, or empty: the first
// written state tells that there is no sandbox yet.
func (h *host) claimFolder(sandbox string, p *plan, preparedDisk string) (*state, error) {
	folder, place := h.folder(sandbox), h.place(sandbox, p.RuntimeKind)
	for _, directory := range []string{folder, place, place + "/layers", place + "/disk", place + "/rootfs"} {
		if err := os.MkdirAll(directory, 0o711); err != nil {
			return nil, step("make "+directory, err)
		}
	}
	slot, err := h.slots.take(folder)
	if err != nil {
		return nil, err
	}
	s := &state{Sandbox: sandbox, Slot: slot, Runtime: p.Runtime, Kind: p.RuntimeKind, Network: p.Network.Mode, Socket: h.socket(sandbox)}
	s.PreparedDisk, s.Volumes, s.ServesVolume = preparedDisk, p.Volumes, p.ServesVolume
	if p.Network.Restrict != "" {
		s.Nft = p.Network.Nft
	}
	return s, h.writeState(s) // clean can release the slot once it is recorded
}

// baseOf returns the first ID of the sandbox's range.
func (h *host) baseOf(s *state, p *plan) uint32 { return p.UidBase + uint32(s.Slot)*p.UidCount }

func (h *host) tryStart(sandbox string, p *plan) (*state, error) {
	s, err := h.claimFolder(sandbox, p, "")
	if err != nil {
		return nil, err
	}
	base := h.baseOf(s, p)
	if p.RuntimeKind == "builtin" {
		err = h.runBuiltin(s, p, base)
	} else {
		err = h.runWithRuntime(s, p, base)
	}
	if err != nil {
		return nil, err
	}
	if s.StartTicks, err = startTicks(s.Pid); err != nil {
		return nil, step("find the sandbox's first process", err)
	}
	// The sandbox has its own copies of the mounts now. Kept here, they would slow down every later namespace.
	if err := unmountRoot(h.place(sandbox, p.RuntimeKind)); err != nil {
		return nil, err
	}
	return s, h.writeState(s)
}

func (h *host) runWithRuntime(s *state, p *plan, base uint32) error {
	folder := h.folder(s.Sandbox)
	spaces, err := h.newNamespaces(base, p.UidCount)
	if err != nil {
		return err
	}
	defer spaces.close()
	place := h.place(s.Sandbox, p.RuntimeKind)
	if err := h.mountRoot(place, p, int(spaces.user.Fd()), base); err != nil {
		return err
	}
	if err := h.mountFolders(place, p, int(spaces.user.Fd()), base); err != nil {
		return err
	}
	if err := h.connect(&p.Network, s.Slot, spaces.network); err != nil {
		return err
	}
	if err := h.cgroups.create(s.Sandbox, p.Limits); err != nil {
		return err
	}
	if err := writeConfig(folder, p, spaces, base); err != nil {
		return err
	}
	s.Pid, err = h.launch(s.Sandbox, p)
	return err
}

// mountRoot mounts the image (read-only, IDs mapped) below the sandbox's disk (limited by its size).
func (h *host) mountRoot(place string, p *plan, userns int, base uint32) error {
	if p.ServesVolume {
		return mountBareRoot(place, base)
	}
	lower, err := mountLayers(p.Layers, userns, place)
	if err != nil {
		return err
	}
	fresh := false
	if _, err := os.Stat(p.Disk); errors.Is(err, os.ErrNotExist) {
		fresh = true
		if err := copyDisk(p.Template, p.Disk); err != nil {
			return rootfsStep("make the disk", err)
		}
	}
	device, handle, err := attachDisk(p.Disk)
	if err != nil {
		return err
	}
	err = mountDisk(device, userns, place+"/disk", func(root string) error {
		if isFilled(root) {
			return nil
		}
		return fillDisk(root, p.Files) // the disk is new, or a launcher was killed before this step
	})
	_ = handle.Close()
	if err != nil {
		if fresh {
			_ = os.Remove(p.Disk)
		}
		return err
	}
	return mountOverlay(lower, place, base, p.Layerable)
}

// launch calls the runtime from a thread in the sandbox's cgroup, and reads the PID file.
func (h *host) launch(sandbox string, p *plan) (int, error) {
	listener, err := listen(h.socket(sandbox))
	if err != nil {
		return 0, step("listen for the helper", err)
	}
	defer unix.Close(listener)
	folder := h.folder(sandbox)
	// The thread is in the sandbox's cgroup when it forks.
	err = onThread(func() error {
		status, err := h.callRuntime(sandbox, p, listener)
		if err == nil && status != 0 {
			err = step(filepath.Base(p.Runtime)+" could not start the sandbox", errors.New(complaint(folder)))
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	content, err := os.ReadFile(folder + "/pid")
	if err != nil {
		return 0, step("read the pid", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	return pid, step("read the pid", err)
}

func (h *host) callRuntime(sandbox string, p *plan, listener int) (unix.WaitStatus, error) {
	folder := h.folder(sandbox)
	devnull, err := os.OpenFile("/dev/null", os.O_RDWR, 0)
	if err != nil {
		return 0, step("open /dev/null", err)
	}
	defer devnull.Close()
	argv := append([]string{filepath.Base(p.Runtime), "--root", h.path("runtime"), "--log", folder + "/log"}, p.RuntimeFlags...)
	attr := &unix.SysProcAttr{Setsid: true}
	if p.RuntimeKind != "runc" { // runc creates its own groups
		group, err := h.cgroups.join(sandbox)
		if err != nil {
			return 0, err
		}
		if group != nil {
			defer group.Close()
			attr.UseCgroupFD, attr.CgroupFD = true, int(group.Fd())
		}
	}
	argv = append(argv, "run", "--detach", "--pid-file", folder+"/pid", "--bundle", folder)
	switch p.RuntimeKind {
	case "crun":
		if err := h.coverCgroups(); err != nil {
			return 0, err
		}
		fallthrough
	case "runc": // gVisor has its own kernel and cannot inherit a socket of this one
		argv = append(argv, "--preserve-fds", "1")
	}
	argv = append(argv, sandbox)
	null := devnull.Fd()
	_, done, err := h.reaper.Start(p.Runtime, argv, &syscall.ProcAttr{
		Dir: folder, Env: []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"},
		Files: []uintptr{null, null, null, uintptr(listener)}, Sys: attr,
	})
	if err != nil {
		return 0, step("start "+p.Runtime, err)
	}
	return <-done, nil
}

// coverCgroups gives this thread alone the v2 view that crun requires.
func (h *host) coverCgroups() error {
	if h.cgroups.version == "v2" {
		return nil
	}
	if err := unix.Unshare(unix.CLONE_FS | unix.CLONE_NEWNS); err != nil {
		return step("unshare the runtime's mount namespace", err)
	}
	return h.cgroups.showUnified()
}

// writeConfig adds the prepared namespaces, which only the launcher knows.
func writeConfig(folder string, p *plan, spaces *namespaces, base uint32) error {
	config, err := decode[map[string]any](p.Config)
	if err != nil {
		return step("read the configuration", err)
	}
	linux, _ := config["linux"].(map[string]any)
	if linux == nil {
		return step("write the bundle", errors.New("the plan has no linux part"))
	}
	self := "/proc/" + strconv.Itoa(os.Getpid()) + "/fd/"
	user := map[string]any{"type": "user", "path": self + strconv.Itoa(int(spaces.user.Fd()))}
	if p.RuntimeKind != "crun" { // runc and runsc need the ID mapping to join a namespace, so they create an equal one themselves
		user = map[string]any{"type": "user"}
		mapping := []map[string]any{{"containerID": 0, "hostID": base, "size": p.UidCount}}
		linux["uidMappings"], linux["gidMappings"] = mapping, mapping
	}
	list, _ := linux["namespaces"].([]any)
	linux["namespaces"] = append(list, user,
		map[string]any{"type": "network", "path": self + strconv.Itoa(int(spaces.network.Fd()))})
	config["root"] = map[string]any{"path": folder + "/rootfs", "readonly": false}
	mounts, _ := config["mounts"].([]any)
	for index, each := range p.folders() {
		options := []string{"bind", "nosuid", "nodev", "rw"}
		if each.ReadOnly {
			options[3] = "ro"
		}
		source := volumePlace(folder, index)
		mounts = append(mounts, map[string]any{"destination": each.Path, "type": "bind", "source": source, "options": options})
	}
	config["mounts"] = mounts
	content, err := json.Marshal(config)
	if err != nil {
		return step("write the bundle", err)
	}
	return step("write the bundle", os.WriteFile(folder+"/config.json", content, 0o600))
}

// listen creates the helper's socket under a name that only the host sees.
func listen(path string) (int, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	if err = unix.Bind(fd, &unix.SockaddrUnix{Name: path}); err == nil {
		if err = os.Chmod(path, 0o600); err == nil {
			err = unix.Listen(fd, 8)
		}
	}
	if err != nil {
		_ = unix.Close(fd)
		return 0, err
	}
	return fd, nil
}

// complaint returns the last message of the runtime's log.
func complaint(folder string) string {
	content, err := os.ReadFile(folder + "/log")
	text := strings.TrimSpace(string(content))
	if err != nil || text == "" {
		return "it gave no reason"
	}
	return text[max(0, len(text)-maxComplaintBytes):]
}
