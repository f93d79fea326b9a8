package agent

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	stopPoll = time.Millisecond
	// levelLimit is how long one level of the process tree may take to stop.
	levelLimit = 200 * time.Millisecond
	// maxLevels bounds the ordered part of a pause: deeper trees, and trees that grow, are stopped all at once.
	maxLevels = 64
	// pauseLimit is how long processes may take to stop once all have been told to.
	pauseLimit = 5 * time.Second
	// maxWaitingPings bounds what a connection may ask for while the sandbox is paused.
	maxWaitingPings = 16
)

// pauser stops every process of a sandbox except the helper, for an engine that cannot freeze a container. While it is
// paused, the helper starts nothing and serves only `servedWhilePaused`.
type pauser struct {
	// changing is held while a pause or resume is made.
	changing sync.Mutex
	// spawning is held by readers while a process is started, and by a pause until it is over.
	spawning sync.RWMutex
	mu       sync.Mutex
	// resumed is closed by the end of the pause; nil if there is none.
	resumed chan struct{}
	// told are the processes that the pause stopped. Others were stopped before, such as a shell's suspended job.
	told map[processID]bool
}

// servedWhilePaused reports whether an operation is answered by a paused sandbox.
func servedWhilePaused(operation string) bool {
	switch operation {
	case "usage", "pause", "resume", "shutdown", "root.measure", "root.save":
		return true
	}
	return false
}

// barrier returns a channel that is closed by the end of the current pause; nil if there is none.
func (p *pauser) barrier() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.resumed
}

// await waits for the end of the current pause. It returns false if the caller is gone first.
func (p *pauser) await(gone <-chan struct{}) bool {
	for barrier := p.barrier(); barrier != nil; barrier = p.barrier() {
		select {
		case <-barrier:
		case <-gone:
			return false
		}
	}
	return true
}

// pause does nothing if the sandbox is paused. If not everything stops, everything continues.
func (p *pauser) pause(root int) *failure {
	p.changing.Lock()
	defer p.changing.Unlock()
	if p.barrier() != nil {
		return nil
	}
	p.mu.Lock()
	p.resumed = make(chan struct{})
	p.mu.Unlock()
	p.spawning.Lock() // waits for starts that have begun
	p.told = map[processID]bool{}
	if p.stopTree(root) {
		return nil
	}
	p.release(root)
	return fail("IO_ERROR", "some processes did not stop")
}

// resume does nothing if the sandbox is not paused.
func (p *pauser) resume(root int) {
	p.changing.Lock()
	defer p.changing.Unlock()
	if p.barrier() != nil {
		p.release(root)
	}
}

// release continues children before their parents: a shell that runs would take a stopped child for a suspended job.
func (p *pauser) release(root int) {
	tree := processesBelow(root)
	slices.SortFunc(tree, func(a, b processInfo) int { return b.depth - a.depth })
	for _, each := range tree {
		if p.told[each.processID] {
			_ = unix.Kill(each.pid, unix.SIGCONT)
		}
	}
	p.told = nil
	p.spawning.Unlock()
	p.mu.Lock()
	close(p.resumed)
	p.resumed = nil
	p.mu.Unlock()
}

// stopTree stops parents before their children, for the reason that `release` has. What outruns this is stopped at once.
func (p *pauser) stopTree(root int) bool {
	for range maxLevels {
		level := nextLevel(processesBelow(root), p.told)
		if len(level) > 0 {
			for _, each := range level {
				p.told[each.processID] = true
				_ = unix.Kill(each.pid, unix.SIGSTOP)
			}
			waitStopped(root, p.told, levelLimit)
			continue
		}
		if !waitStopped(root, p.told, pauseLimit) {
			return false
		}
		if len(nextLevel(processesBelow(root), p.told)) == 0 { // nothing was started until all had stopped
			return true
		}
	}
	return p.stopEverything(root)
}

// nextLevel returns the processes that were not told to stop and whose parents do not run.
func nextLevel(tree []processInfo, told map[processID]bool) []processInfo {
	running := map[int]bool{}
	for _, each := range tree {
		if !told[each.processID] && each.state != 'T' {
			running[each.pid] = true
		}
	}
	level := []processInfo{}
	for _, each := range tree {
		if running[each.pid] && !running[each.parent] {
			level = append(level, each)
		}
	}
	return level
}

// waitStopped reports whether all that were told to stop have done so within the limit.
func waitStopped(root int, told map[processID]bool, limit time.Duration) bool {
	for deadline := time.Now().Add(limit); ; time.Sleep(stopPoll) {
		if !slices.ContainsFunc(processesBelow(root), func(each processInfo) bool {
			return told[each.processID] && !each.still()
		}) {
			return true
		}
		if !time.Now().Before(deadline) {
			return false
		}
	}
}

// stopEverything signals all processes in one call, during which none can fork. Only PID 1 of a sandbox does this.
func (p *pauser) stopEverything(root int) bool {
	if os.Getpid() != 1 {
		return false
	}
	before := map[processID]bool{}
	for _, each := range processesBelow(root) {
		before[each.processID] = each.state == 'T' && !p.told[each.processID]
	}
	for deadline := time.Now().Add(pauseLimit); time.Now().Before(deadline); time.Sleep(stopPoll) {
		_ = unix.Kill(-1, unix.SIGSTOP)
		continueOutsiders(root)
		moving := false
		for _, each := range processesBelow(root) {
			p.told[each.processID] = !before[each.processID]
			moving = moving || !each.still()
		}
		if !moving {
			return true
		}
	}
	return false
}

// continueOutsiders continues what the engine started, such as the bridges that carry the platform's connections.
func continueOutsiders(root int) {
	inside := map[int]bool{}
	for _, each := range processesBelow(root) {
		inside[each.pid] = true
	}
	eachOther(func(pid int) bool {
		if !inside[pid] {
			_ = unix.Kill(pid, unix.SIGCONT)
		}
		return true
	})
}

// processID tells a process from a later one with the same PID.
type processID struct {
	pid     int
	started string
}

type processInfo struct {
	processID
	parent int
	// state is the letter of /proc/PID/stat.
	state byte
	// depth is 1 for children of the root.
	depth int
}

// still reports whether none of its threads can run a program's code: each is stopped, traced, dead, or in a system call
// that ends in the pending stop. The state of a process is its first thread's, which may have ended before the others.
func (p processInfo) still() bool {
	folder := "/proc/" + strconv.Itoa(p.pid) + "/task"
	threads, err := os.ReadDir(folder)
	if err != nil {
		return true // it has ended
	}
	for _, thread := range threads {
		info, found := readProcess(folder+"/"+thread.Name()+"/stat", p.pid)
		if found && !strings.ContainsRune("TtZXxD", rune(info.state)) {
			return false
		}
	}
	return true
}

// processesBelow lists the descendants of a process, parents before their children. Processes that an engine started in the
// sandbox have no parent inside and are not among them.
func processesBelow(root int) []processInfo {
	children := map[int][]processInfo{}
	eachOther(func(pid int) bool {
		if info, found := readProcess("/proc/"+strconv.Itoa(pid)+"/stat", pid); found {
			children[info.parent] = append(children[info.parent], info)
		}
		return true
	})
	tree := []processInfo{}
	level := []int{root}
	for depth := 1; len(level) > 0; depth++ {
		below := []int{}
		for _, parent := range level {
			for _, each := range children[parent] {
				each.depth = depth
				tree = append(tree, each)
				below = append(below, each.pid)
			}
			delete(children, parent) // a PID that was reused meanwhile must not make a cycle
		}
		level = below
	}
	return tree
}

func readProcess(file string, pid int) (processInfo, bool) {
	content, err := os.ReadFile(file)
	if err != nil {
		return processInfo{}, false
	}
	text := string(content)
	// The name in parentheses may contain anything.
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	const startTime = 19
	if len(fields) <= startTime {
		return processInfo{}, false
	}
	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		return processInfo{}, false
	}
	return processInfo{processID: processID{pid, fields[startTime]}, parent: parent, state: fields[0][0]}, true
}
