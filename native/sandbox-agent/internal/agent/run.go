// Package agent runs inside a sandbox as PID 1: it owns the sandbox's processes and serves them and its files to the
// platform over the framed connection described in PROTOCOL.md. It serves no process of the sandbox: the listening
// socket is inherited as descriptor 3 and has its name outside the sandbox, or only connections from the engine's own
// processes are accepted.
package agent

import (
	"errors"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"svc.dev/sandbox-agent/internal/bridge"
	"svc.dev/sandbox-agent/internal/limits"
	"svc.dev/sandbox-agent/internal/reap"
)

const (
	inheritedFd = 3
	// Connections of a killed platform end by themselves; more than this many at once is a fault.
	maxConnections = 4
	memoryGoal     = 24 << 20
	// Enough for concurrent transfers and terminals, whatever the machine has.
	processors = 2
)

// servesVolume is set before anything is served: the root is a volume, which outlives this process and which sandboxes
// may have mounted. There are only files, and no programs.
var servesVolume bool

// Options are what the engine of a sandbox leaves to the helper.
type Options struct {
	// Bridged makes it create the socket for `sandbox-agent bridge` itself.
	Bridged bool
	// Limited makes it restrict the sandbox by the limits beside this program.
	Limited bool
	// ServesVolume says that its root is a volume.
	ServesVolume bool
	// DiskFolders are the folders in the root that are mounted from the disk of the sandbox; none if the root is its disk.
	DiskFolders []string
}

// Run serves until SIGTERM or a shutdown request, and returns the exit code of the sandbox's PID 1.
func Run(options Options) int {
	servesVolume, diskFolders = options.ServesVolume, options.DiskFolders
	if os.Getpid() != 1 { // shutdown ends every other process, which must never mean a whole machine
		os.Stderr.WriteString("sandbox-agent: init must run as PID 1 of a sandbox\n")
		return 1
	}
	runtime.GOMAXPROCS(processors)
	debug.SetGCPercent(50)
	debug.SetMemoryLimit(memoryGoal)
	hideFromSandbox()
	forgetCluster()
	if options.Limited {
		if err := limits.Apply(true); err != nil {
			os.Stderr.WriteString("sandbox-agent: the limits of the sandbox: " + err.Error() + "\n")
			return 1
		}
	}
	listener, err := listen(options.Bridged)
	if err != nil {
		os.Stderr.WriteString("sandbox-agent: " + err.Error() + "\n")
		return 1
	}
	a := &agent{listener: listener, reaper: reap.New(), sessionTable: newSessionTable(), processes: newProcessTable(), quit: make(chan struct{})}
	if options.Bridged {
		a.admits = bridge.FromOutside
	}
	terminate := make(chan os.Signal, 1)
	signal.Notify(terminate, unix.SIGTERM)
	go removeLeftovers(leftoverMarkers()) // listed before any client is served, so that no new marker is included
	go a.accept()
	select {
	case <-terminate:
	case <-a.quit:
	}
	a.terminateAll()
	return 0
}

func listen(bridged bool) (int, error) {
	if bridged {
		return bridge.Listen()
	}
	unix.CloseOnExec(inheritedFd)
	if err := unix.SetNonblock(inheritedFd, false); err != nil {
		return 0, errors.New("descriptor 3 is not a listening socket")
	}
	return inheritedFd, nil
}

type agent struct {
	listener int
	// admits decides which peers are served; nil admits every peer.
	admits      func(fd int) bool
	reaper      *reap.Reaper
	connections atomic.Int32
	*sessionTable
	processes *processTable
	pauser    pauser
	quit      chan struct{}
	once      atomic.Bool
}

func (a *agent) shutdown() {
	if a.once.CompareAndSwap(false, true) {
		close(a.quit)
	}
}

func (a *agent) accept() {
	for {
		fd, _, err := unix.Accept4(a.listener, unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK)
		if err == unix.EINTR || err == unix.ECONNABORTED {
			continue
		}
		if err != nil {
			a.shutdown()
			return
		}
		if a.admits != nil && !a.admits(fd) {
			_ = unix.Close(fd)
			continue
		}
		if a.connections.Add(1) > maxConnections {
			a.connections.Add(-1)
			_ = unix.Close(fd)
			continue
		}
		go func() {
			defer a.connections.Add(-1)
			a.serve(os.NewFile(uintptr(fd), "platform"))
		}()
	}
}

// forgetCluster unsets the variables with which a kubelet announces the API server, so that programs do not try to use
// it.
func forgetCluster() {
	for _, each := range os.Environ() {
		name, _, _ := strings.Cut(each, "=")
		if strings.HasPrefix(name, "KUBERNETES_SERVICE_") || strings.HasPrefix(name, "KUBERNETES_PORT") {
			_ = os.Unsetenv(name)
		}
	}
}

// hideFromSandbox makes this process non-dumpable, so that processes of the same user can neither trace it nor open its
// descriptors under /proc.
func hideFromSandbox() {
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
}
