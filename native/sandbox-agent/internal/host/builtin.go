package host

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"svc.dev/sandbox-agent/internal/boot"
	"svc.dev/sandbox-agent/internal/seccomp"
)

const (
	helperName  = "/.sandbox/agent"
	bootTimeout = 20 // seconds
)

// builtinStart is a start without an OCI runtime: the helper is the sandbox's first process from its first instruction
// on. It sets up the inside (package boot) while the launcher sets up the root.
type builtinStart struct {
	pid    int
	spaces *namespaces
	socket *os.File
}

// runBuiltin prepares root and network while the first process starts.
func (h *host) runBuiltin(s *state, p *plan, base uint32) error {
	if err := h.cgroups.create(s.Sandbox, p.Limits); err != nil {
		return err
	}
	started, err := h.beginBuiltin(s.Sandbox, base, p.UidCount)
	if err != nil {
		return err
	}
	defer started.close()
	place := h.place(s.Sandbox, p.RuntimeKind)
	if err := h.mountRoot(place, p, int(started.spaces.user.Fd()), base); err != nil {
		return err
	}
	if err := h.connect(&p.Network, s.Slot, started.spaces.network); err != nil {
		return err
	}
	if err := h.finish(started, place, p, base); err != nil {
		return err
	}
	s.Pid = started.pid
	return nil
}

func (b *builtinStart) close() {
	b.spaces.close()
	_ = b.socket.Close()
}

// ownBinary is a read-only view of the helper, so that a sandbox cannot write through its /proc/PID/exe.
type ownBinary struct {
	once sync.Once
	fd   int
	err  error
}

// forChild returns a descriptor that survives a fork with these files. The caller closes it.
func (o *ownBinary) forChild(files []uintptr) (int, error) {
	o.once.Do(func() { o.fd, o.err = readOnlySelf() })
	if o.err != nil {
		return -1, o.err
	}
	fd, err := aboveChildFiles(o.fd, files)
	return fd, step("keep the helper", err)
}

func readOnlySelf() (int, error) {
	name, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return -1, step("find the helper", err)
	}
	tree, err := openTree(name)
	if err != nil {
		return -1, step("open the helper", err)
	}
	readOnly := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}
	if err := unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH, &readOnly); err != nil {
		_ = unix.Close(tree)
		return -1, step("make the helper read-only", err)
	}
	return tree, nil
}

// beginBuiltin starts the first process in its namespaces and its control group. It then waits for the plan.
func (h *host) beginBuiltin(sandbox string, base, count uint32) (*builtinStart, error) {
	listener, err := listen(h.socket(sandbox))
	if err != nil {
		return nil, step("listen for the helper", err)
	}
	defer unix.Close(listener)
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, step("create the boot socket", err)
	}
	started := &builtinStart{socket: os.NewFile(uintptr(pair[0]), "boot")}
	theirs := os.NewFile(uintptr(pair[1]), "boot")
	defer theirs.Close()
	devnull, err := os.OpenFile("/dev/null", os.O_RDWR, 0)
	if err != nil {
		_ = started.socket.Close()
		return nil, step("open /dev/null", err)
	}
	defer devnull.Close()
	null := devnull.Fd()
	files := []uintptr{null, null, null, uintptr(listener), theirs.Fd()}
	binary, err := h.binary.forChild(files)
	if err == nil {
		err = onThread(func() error { return h.forkBuiltin(started, sandbox, descriptorPath(binary), base, count, files) })
		_ = unix.Close(binary)
	}
	if err == nil {
		started.spaces, err = namespacesOf(started.pid)
	}
	if err != nil {
		_ = started.socket.Close() // the first process exits when this is closed
		return nil, err
	}
	return started, nil
}

// forkBuiltin must run on a thread that is in the sandbox's control group and is discarded afterwards.
func (h *host) forkBuiltin(started *builtinStart, sandbox, binary string, base, count uint32, files []uintptr) error {
	mapping := []syscall.SysProcIDMap{{ContainerID: 0, HostID: int(base), Size: int(count)}}
	attr := &unix.SysProcAttr{
		Setsid: true,
		Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_NEWPID |
			unix.CLONE_NEWIPC | unix.CLONE_NEWUTS,
		UidMappings: mapping, GidMappings: mapping, GidMappingsEnableSetgroups: true,
		Credential: &syscall.Credential{Uid: 0, Gid: 0},
	}
	group, err := h.cgroups.join(sandbox)
	if err != nil {
		return err
	}
	if group != nil {
		defer group.Close()
		attr.UseCgroupFD, attr.CgroupFD = true, int(group.Fd())
	}
	// The sandbox must not inherit the keyring of the launcher's parent.
	if _, err := unix.KeyctlInt(unix.KEYCTL_JOIN_SESSION_KEYRING, 0, 0, 0, 0); err != nil && err != unix.ENOSYS {
		return step("join a new keyring", err)
	}
	// One processor: it works sequentially until it is ready, and every further thread would need the same system
	// calls.
	started.pid, _, err = h.reaper.Start(binary, []string{helperName, "init", "--boot"},
		&syscall.ProcAttr{Files: files, Sys: attr, Env: []string{"GOMAXPROCS=1"}})
	return step("start the first process", err)
}

func namespacesOf(pid int) (*namespaces, error) {
	prefix := "/proc/" + strconv.Itoa(pid) + "/ns/"
	user, err := os.Open(prefix + "user")
	if err != nil {
		return nil, step("open the user namespace", err)
	}
	network, err := os.Open(prefix + "net")
	if err != nil {
		_ = user.Close()
		return nil, step("open the network namespace", err)
	}
	return &namespaces{user: user, network: network}, nil
}

// finish sends the root and waits until the inside is set up and all privileges are dropped.
func (h *host) finish(started *builtinStart, place string, p *plan, base uint32) error {
	content, err := h.bootPlan(place, p)
	if err != nil {
		return err
	}
	root, err := openTree(place + "/rootfs")
	if err != nil {
		return step("open the root", err)
	}
	defer unix.Close(root)
	volumes, err := h.openFolders(p, int(started.spaces.user.Fd()), base)
	if err != nil {
		return err
	}
	defer closeAll(volumes)
	fd := int(started.socket.Fd())
	limit := unix.Timeval{Sec: bootTimeout}
	_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &limit)
	_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &limit)
	if err := unix.Sendmsg(fd, []byte{0}, unix.UnixRights(append([]int{root}, volumes...)...), nil, unix.MSG_NOSIGNAL); err != nil {
		return step("send the root", err)
	}
	if _, err := started.socket.Write(content); err != nil {
		return step("send the plan", err)
	}
	if err := unix.Shutdown(fd, unix.SHUT_WR); err != nil {
		return step("send the plan", err)
	}
	answer, err := io.ReadAll(io.LimitReader(started.socket, maxComplaintBytes))
	if err != nil {
		return step("wait for the first process", err)
	}
	if string(answer) == "ok" {
		return nil
	}
	if len(answer) == 0 {
		answer = []byte("it ended without a word")
	}
	return step("set up the sandbox", errors.New(string(answer)))
}

type ociConfig struct {
	Hostname string `json:"hostname"`
	Process  struct {
		Env          []string `json:"env"`
		Cwd          string   `json:"cwd"`
		Capabilities struct {
			Bounding []string `json:"bounding"`
		} `json:"capabilities"`
	} `json:"process"`
	Mounts []boot.Mount `json:"mounts"`
	Linux  struct {
		MaskedPaths   []string `json:"maskedPaths"`
		ReadonlyPaths []string `json:"readonlyPaths"`
	} `json:"linux"`
}

func (h *host) bootPlan(place string, p *plan) ([]byte, error) {
	config, err := decode[ociConfig](p.Config)
	if err != nil {
		return nil, step("read the configuration", err)
	}
	filter, err := h.filters.of(p.SeccompFile)
	if err != nil {
		return nil, step("compile the seccomp filter", err)
	}
	mounts := []boot.Mount{}
	for _, mount := range config.Mounts {
		if mount.Type != "bind" { // a bind of the helper's file, which is already running
			mounts = append(mounts, mount)
		}
	}
	volumes := []string{}
	for _, each := range p.folders() {
		volumes = append(volumes, each.Path)
	}
	root := ""
	if p.ServesVolume {
		root = p.Volumes[0].Path
	}
	content, err := json.Marshal(boot.Plan{
		Root:    root,
		Staging: place + "/rootfs", Hostname: config.Hostname, Cwd: config.Process.Cwd, Env: config.Process.Env,
		Mounts: mounts, Volumes: volumes, Masked: config.Linux.MaskedPaths, ReadOnly: config.Linux.ReadonlyPaths,
		Capabilities: config.Process.Capabilities.Bounding, Filter: filter,
	})
	return content, step("write the plan", err)
}

// filterCache keeps the last filter, since all sandboxes have the same profile. The name of a profile's file depends on
// its content.
type filterCache struct {
	mu       sync.Mutex
	file     string
	compiled []byte
}

func (f *filterCache) of(file string) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.compiled != nil && f.file == file {
		return f.compiled, nil
	}
	profile, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	compiled, err := seccomp.Compile(profile)
	if err != nil {
		return nil, err
	}
	f.file, f.compiled = file, compiled
	return compiled, nil
}

// openTree creates a detached copy of the mount at a path.
func openTree(name string) (int, error) {
	return unix.OpenTree(unix.AT_FDCWD, name, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
}
