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

// cgroupLayout is how this machine mounts control groups.
type cgroupLayout struct {
	// Version: v2, hybrid (v1 controllers beside a bare v2) or v1.
	version string
	// hierarchies: controller -> directory, with `unified` for v2. On v1 and hybrid these are binds of our own, since
	// crun wants to see a v2 mount in their place.
	hierarchies map[string]string
	// unifiedOptions of the machine's v2 mount, which another mount must not take away.
	unifiedOptions string
}

// detectCgroups reads the layout and prepares it in this mount namespace.
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
	delete(mounts, "unified") // it has no controllers here
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

// favorMoves makes moving a thread into a group cheap: on v1 each of the moves that a start needs would otherwise wait for a
// grace period of the whole machine, milliseconds. The option is of the kernel as a whole and outlives the mount that asks
// for it. Kernels before 6.0 do not know it and go on waiting. (A named v1 hierarchy could ask too, but containerd then
// finds no statistics of its containers.)
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

// mountUnified mounts v2 with the options that it has: a mount in the host's control group namespace sets them for all.
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

// showUnified covers /sys/fs/cgroup with a bare v2 mount, here only, since crun refuses v1 and hybrid layouts.
func (l *cgroupLayout) showUnified() error {
	if l.version == "v2" {
		return nil
	}
	return step("mount cgroup2 for the runtime", mountUnified(unifiedMount, l.unifiedOptions))
}

// delegate makes the parent group and hands the controllers down to it (v2).
func (l *cgroupLayout) delegate() error {
	for _, controllers := range []string{unifiedMount, unifiedMount + "/" + cgroupParent} {
		if err := os.MkdirAll(controllers, 0o755); err != nil {
			return step("make the cgroup parent", err)
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

// create makes the sandbox's group with its limits in every hierarchy that this machine has.
func (l *cgroupLayout) create(sandbox string, limits limits) error {
	settings := l.settings(limits)
	for controller := range l.hierarchies {
		directory, _ := l.directory(controller, sandbox)
		if err := os.MkdirAll(directory, 0o755); err != nil {
			return step("make the cgroup", err)
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

// adjust sets other limits on a group that exists.
func (l *cgroupLayout) adjust(sandbox string, limits limits) error {
	if directory, found := l.directory("memory", sandbox); found && l.version != "v2" {
		// Of two limits that bound each other the outer one goes away first; it is set again below.
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

// join moves the calling thread, which must be locked and thrown away after its fork, into the group (v1 and hybrid). On
// v2 the answer is a descriptor for the fork itself to use.
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

// kill ends every process of the group and waits until none is left.
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
		_ = l.thaw(sandbox) // frozen processes of v1 die when they move again
		time.Sleep(killPollEvery)
	}
	return step("kill the sandbox", errors.New("processes do not end"))
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
		// 0 is a process of another pid namespace. We are listed ourselves while the thread that started it is still ending.
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

// removeGroup waits a moment for the kernel to let go of processes that have ended.
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

// group is the sandbox's group as its counters are read.
func (l *cgroupLayout) group(sandbox string) cgroup.Group {
	group := cgroup.Group{}
	for controller := range l.hierarchies {
		if directory, found := l.directory(controller, sandbox); found {
			group[controller] = directory
		}
	}
	return group
}
