package host

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"svc.dev/sandbox-agent/internal/cgroup"
)

const (
	unifiedMount  = cgroup.UnifiedMount
	cgroupParent  = "svc-sandboxes"
	cpuPeriodUs   = 100_000
	killAttempts  = 500
	killPollEvery = 10 * time.Millisecond
)

// cgroupLayout describes how this machine mounts control groups.
type cgroupLayout struct {
	// version is v2, hybrid (v1 controllers next to an empty v2) or v1.
	version string
	// hierarchies maps each controller to its directory, with `unified` for v2. On v1 and hybrid these are our own
	// binds, since crun expects a v2 mount in their place.
	hierarchies map[string]string
	// unifiedOptions are the options of the machine's v2 mount, which another mount must keep.
	unifiedOptions string
}

// detectCgroups detects the layout and prepares it in this mount namespace.
func detectCgroups(bindsUnder string) (cgroupLayout, error) {
	mounts, options, err := cgroupMounts()
	if err != nil {
		return cgroupLayout{}, err
	}
	layout := cgroupLayout{version: "v1", hierarchies: map[string]string{}}
	if point, found := mounts["unified"]; found && point == unifiedMount {
		layout.version = "v2"
		layout.hierarchies["unified"] = unifiedMount
		return layout, layout.delegate()
	}
	if _, found := mounts["unified"]; found {
		layout.version = "hybrid"
	}
	delete(mounts, "unified") // in this layout it has no controllers
	layout.unifiedOptions = options
	favorMoves(bindsUnder, options)
	for controller, point := range mounts {
		bind := bindsUnder + "/" + controller
		if err := os.MkdirAll(bind, 0o700); err != nil {
			return layout, step("prepare cgroups", err)
		}
		if err := unix.Mount(point, bind, "", unix.MS_BIND, ""); err != nil {
			return layout, step("bind the cgroup hierarchy "+controller, err)
		}
		layout.hierarchies[controller] = bind
	}
	return layout, nil
}

// favorMoves makes moving a thread into a group cheap: on v1, each move of a start would otherwise wait milliseconds
// for an RCU grace period. The option applies to the whole kernel and outlives the mount that sets it. Kernels before
// 6.0 lack it and keep waiting. (A named v1 hierarchy could set it too, but containerd would then not find the
// statistics of its containers.)
func favorMoves(under, options string) {
	directory := under + "/unified"
	if os.MkdirAll(directory, 0o700) != nil {
		return
	}
	if mountUnified(directory, options) == nil {
		_ = unix.Unmount(directory, 0)
	}
	_ = os.Remove(directory)
}

// mountUnified mounts v2 with its current options: a mount in the host's cgroup namespace sets the options of all v2
// mounts.
func mountUnified(at, options string) error {
	kept := slices.DeleteFunc(strings.Split(options, ","), func(option string) bool {
		return option == "" || option == "rw" || option == "ro" || option == "favordynmods"
	})
	if unix.Mount("cgroup2", at, "cgroup2", 0, strings.Join(append(kept, "favordynmods"), ",")) == nil {
		return nil
	}
	return unix.Mount("cgroup2", at, "cgroup2", 0, strings.Join(kept, ","))
}

func cgroupMounts() (map[string]string, string, error) {
	content, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, "", step("read mountinfo", err)
	}
	mounts, options := cgroup.Mounts(string(content))
	return mounts, options, nil
}

// showUnified covers /sys/fs/cgroup with a plain v2 mount in this namespace, since crun rejects v1 and hybrid layouts.
func (l *cgroupLayout) showUnified() error {
	if l.version == "v2" {
		return nil
	}
	return step("mount cgroup2 for the runtime", mountUnified(unifiedMount, l.unifiedOptions))
}

// delegate creates the parent group and enables its controllers for children (v2).
func (l *cgroupLayout) delegate() error {
	for _, controllers := range []string{unifiedMount, unifiedMount + "/" + cgroupParent} {
		if err := os.MkdirAll(controllers, 0o755); err != nil {
			return step("create the cgroup parent", err)
		}
		if err := os.WriteFile(controllers+"/cgroup.subtree_control", []byte("+cpu +memory +pids"), 0); err != nil {
			return step("delegate cpu, memory and pids in "+controllers, err)
		}
	}
	return nil
}

func (l *cgroupLayout) directory(controller, sandbox string) (string, bool) {
	if l.version == "v2" {
		return unifiedMount + "/" + cgroupParent + "/" + sandbox, true
	}
	base, found := l.hierarchies[controller]
	return base + "/" + cgroupParent + "/" + sandbox, found
}

// create creates the sandbox's group with its limits in every hierarchy of this machine.
func (l *cgroupLayout) create(sandbox string, limits limits) error {
	settings := l.settings(limits)
	for controller := range l.hierarchies {
		directory, _ := l.directory(controller, sandbox)
		if err := os.MkdirAll(directory, 0o755); err != nil {
			return step("create the cgroup", err)
		}
		for _, setting := range settings[controller] {
			err := os.WriteFile(directory+"/"+setting.file, []byte(setting.value), 0)
			if err != nil && !(setting.optional && errors.Is(err, os.ErrNotExist)) {
				return step("set "+setting.file, err)
			}
		}
	}
	return nil
}

// adjust changes the limits of an existing group.
func (l *cgroupLayout) adjust(sandbox string, limits limits) error {
	if directory, found := l.directory("memory", sandbox); found && l.version != "v2" {
		// The limits bound each other, so the outer one is lifted first and set again below.
		_ = os.WriteFile(directory+"/memory.memsw.limit_in_bytes", []byte("-1"), 0)
	}
	return l.create(sandbox, limits)
}

type cgroupSetting struct {
	file, value string
	optional    bool
}

func (l *cgroupLayout) settings(limits limits) map[string][]cgroupSetting {
	memory, pids := strconv.FormatInt(limits.MemoryBytes, 10), strconv.FormatInt(limits.Pids, 10)
	quota := strconv.FormatInt(limits.CPUMillis*cpuPeriodUs/1000, 10)
	period := strconv.Itoa(cpuPeriodUs)
	if l.version == "v2" {
		return map[string][]cgroupSetting{"unified": {
			{file: "memory.max", value: memory}, {file: "memory.swap.max", value: "0", optional: true},
			{file: "pids.max", value: pids}, {file: "cpu.max", value: quota + " " + period},
		}}
	}
	return map[string][]cgroupSetting{
		"memory": {
			{file: "memory.limit_in_bytes", value: memory},
			{file: "memory.memsw.limit_in_bytes", value: memory, optional: true},
		},
		"pids": {{file: "pids.max", value: pids}},
		"cpu":  {{file: "cpu.cfs_period_us", value: period}, {file: "cpu.cfs_quota_us", value: quota}},
	}
}

// join moves the calling thread into the group (v1 and hybrid). The thread must be locked, and discarded after its
// fork. On v2, join returns a descriptor for the fork itself.
func (l *cgroupLayout) join(sandbox string) (*os.File, error) {
	if l.version == "v2" {
		directory, _ := l.directory("unified", sandbox)
		handle, err := os.Open(directory)
		return handle, step("open the cgroup", err)
	}
	thread := []byte(strconv.Itoa(unix.Gettid()))
	for controller := range l.hierarchies {
		directory, _ := l.directory(controller, sandbox)
		if err := os.WriteFile(directory+"/tasks", thread, 0); err != nil {
			return nil, step("join the cgroup", err)
		}
	}
	return nil, nil
}

// kill kills every process of the group and waits until none is left.
func (l *cgroupLayout) kill(sandbox string) error {
	if l.version == "v2" {
		directory, _ := l.directory("unified", sandbox)
		_ = os.WriteFile(directory+"/cgroup.kill", []byte("1"), 0)
	}
	for range killAttempts {
		pids := l.processes(sandbox)
		if len(pids) == 0 {
			return nil
		}
		for _, pid := range pids {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		_ = l.thaw(sandbox) // frozen processes of v1 die only when thawed
		time.Sleep(killPollEvery)
	}
	return step("kill the sandbox", errors.New("processes do not exit"))
}

func (l *cgroupLayout) processes(sandbox string) []int {
	var pids []int
	directory, found := l.directory("pids", sandbox)
	if !found {
		return nil
	}
	content, err := os.ReadFile(directory + "/cgroup.procs")
	if err != nil {
		return nil
	}
	for field := range strings.FieldsSeq(string(content)) {
		// 0 is a process of another PID namespace. The launcher itself is listed while the thread that started the
		// group's first process is still exiting.
		if pid, err := strconv.Atoi(field); err == nil && pid > 0 && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (l *cgroupLayout) remove(sandbox string) error {
	for controller := range l.hierarchies {
		directory, _ := l.directory(controller, sandbox)
		if err := removeGroup(directory); err != nil {
			return step("remove the cgroup", err)
		}
	}
	return nil
}

// removeGroup retries while the kernel still holds exited processes.
func removeGroup(directory string) error {
	entries, err := os.ReadDir(directory)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		if entry.IsDir() {
			_ = removeGroup(directory + "/" + entry.Name())
		}
	}
	for range killAttempts {
		err = unix.Rmdir(directory)
		if err == nil || err == unix.ENOENT {
			return nil
		}
		if err != unix.EBUSY {
			return err
		}
		time.Sleep(time.Millisecond)
	}
	return err
}

// group returns the sandbox's group for reading counters.
func (l *cgroupLayout) group(sandbox string) cgroup.Group {
	group := cgroup.Group{}
	for controller := range l.hierarchies {
		if directory, found := l.directory(controller, sandbox); found {
			group[controller] = directory
		}
	}
	return group
}
