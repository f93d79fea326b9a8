// Package host is the privileged half of the local driver: it turns plans of the platform into mounts, cgroups,
// namespaces and runtime calls, and undoes them. It makes no policy decisions. Its mounts are in its own mount
// namespace, so they are invisible to the host and do not outlive the sandboxes that use them.
package host

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"os/signal"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"

	"svc.dev/sandbox-agent/internal/reap"
)

const (
	maxRequestBytes = 1 << 20
	unsharedFlag    = "--unshared"
)

// Run serves requests on standard input, one JSON object per line, until it is closed.
func Run(args []string) int {
	options, err := parseOptions(args)
	if err == nil {
		err = keepDescriptors()
	}
	if err == nil && !options.unshared {
		err = enterOwnMountNamespace(args)
	}
	var h *host
	if err == nil {
		h, err = newHost(options)
	}
	if err != nil {
		_ = json.NewEncoder(os.Stdout).Encode(reply{Failure: failureOf(err)})
		return 1
	}
	h.send(reply{Ok: true, Result: h.facts()})
	h.serve(os.Stdin)
	return 0
}

type options struct {
	run      string
	unshared bool
}

func parseOptions(args []string) (options, error) {
	o := options{}
	for index := 0; index < len(args); index++ {
		switch {
		case args[index] == "--run" && index+1 < len(args):
			index++
			o.run = args[index]
		case args[index] == unsharedFlag:
			o.unshared = true
		}
	}
	if o.run == "" {
		return o, errors.New("--run DIR is required")
	}
	return o, nil
}

// keepDescriptors marks descriptors that the platform inherited close-on-exec, so that no program started here, and
// thus no sandbox, inherits them.
func keepDescriptors() error {
	return step("set inherited descriptors close-on-exec", unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC))
}

// enterOwnMountNamespace unshares the mount namespace of this thread and executes the program again, so that all of its
// threads are in it.
func enterOwnMountNamespace(args []string) error {
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return step("unshare the mount namespace", err)
	}
	// Slave: mounts of the host appear here later, but mounts made here do not appear on the host.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return step("make mounts private", err)
	}
	argv := append([]string{"/proc/self/exe", "host", unsharedFlag}, args...)
	return step("execute the program again", unix.Exec("/proc/self/exe", argv, os.Environ()))
}

type host struct {
	run     string
	reaper  *reap.Reaper
	cgroups cgroupLayout
	slots   *slotTable
	writing sync.Mutex
	running sync.WaitGroup
	locks   keyedLocks
	network networkOnce
	binary  ownBinary
	filters filterCache
	// mounting is read-locked while a start has mounts in this namespace.
	mounting sync.RWMutex
	prepared preparedStarts
}

func newHost(o options) (*host, error) {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	// A response to a platform that is gone must not kill the launcher during other work. Not ignored, because children
	// would inherit an ignored signal.
	signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE)
	h := &host{run: o.run, reaper: reap.New()}
	for _, directory := range []string{o.run, h.path("sandboxes"), h.path("runtime"), h.path("cgroups")} {
		if err := os.MkdirAll(directory, 0o711); err != nil {
			return nil, step("make "+directory, err)
		}
	}
	if err := lockRun(o.run, lockPatience); err != nil {
		return nil, err
	}
	if err := h.holdRoots(); err != nil {
		return nil, err
	}
	var err error
	if h.cgroups, err = detectCgroups(h.path("cgroups")); err != nil {
		return nil, err
	}
	if h.slots, err = openSlots(); err != nil {
		return nil, err
	}
	return h, nil
}

// holdRoots keeps the folders of roots in memory: a start creates and removes several folders, which takes milliseconds
// if the run folder is on a disk with many deletions.
func (h *host) holdRoots() error {
	roots := h.path("roots")
	if err := os.MkdirAll(roots, 0o711); err != nil {
		return step("make "+roots, err)
	}
	flags := uintptr(unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC)
	return step("mount "+roots, unix.Mount("tmpfs", roots, "tmpfs", flags, "mode=711,size=16m"))
}

func (h *host) path(name string) string { return h.run + "/" + name }

func (h *host) serve(from io.Reader) {
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 64<<10), maxRequestBytes)
	for lines.Scan() {
		var r request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			h.send(reply{Failure: failureOf(step("read a request", err))})
			continue
		}
		h.running.Add(1)
		go func() {
			defer h.running.Done()
			result, err := h.handle(&r)
			if err != nil {
				h.send(reply{ID: r.ID, Failure: failureOf(err)})
				return
			}
			h.send(reply{ID: r.ID, Ok: true, Result: result})
		}()
	}
	h.running.Wait() // work in progress is finished even if the platform is gone
	h.dropPrepared()
}

func (h *host) send(r reply) {
	line, err := json.Marshal(r)
	if err != nil {
		return
	}
	h.writing.Lock()
	defer h.writing.Unlock()
	_, _ = os.Stdout.Write(append(line, '\n'))
}
