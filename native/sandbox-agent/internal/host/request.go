package host

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

type request struct {
	ID      int64  `json:"id"`
	Op      string `json:"op"`
	Sandbox string `json:"sandbox"`
	Plan    *plan  `json:"plan"`
	Signal  int    `json:"signal"`
	Timeout int    `json:"timeout_ms"`
	Rules   string `json:"rules"`
	// For restrict, with Rules of one sandbox.
	Nft string `json:"nft"`
	// For adjust.
	Hostname string            `json:"hostname"`
	Limits   *limits           `json:"limits"`
	Files    map[string]string `json:"files"`
	// For snapshot and copy_disk: files on this machine.
	From string `json:"from"`
	To   string `json:"to"`
	// Paused sandboxes stay frozen after the operation.
	Paused bool `json:"paused"`
	// For copy_volume: sandboxes that stay frozen afterwards.
	PausedSandboxes []string `json:"paused_sandboxes"`
	// For resize_volume: Tool is a program that resizes a file system in a file.
	SizeBytes int64  `json:"size_bytes"`
	Tool      string `json:"tool"`
}

// plan is everything that a start needs. The platform has made every decision in it.
type plan struct {
	Runtime     string `json:"runtime"`
	RuntimeKind string `json:"runtime_kind"`
	// RuntimeFlags precede the runtime's command.
	RuntimeFlags []string `json:"runtime_flags"`
	Agent        string   `json:"agent"`
	// Layers of the unpacked image, topmost first.
	Layers   []string          `json:"layers"`
	Disk     string            `json:"disk"`
	Template string            `json:"disk_template"`
	Files    map[string]string `json:"files"`
	Limits   limits            `json:"limits"`
	Network  networkPlan       `json:"network"`
	UidBase  uint32            `json:"uid_base"`
	UidCount uint32            `json:"uid_count"`
	Config   json.RawMessage   `json:"config"`
	// SeccompFile has the profile of the builtin runtime. The others find theirs in Config.
	SeccompFile string   `json:"seccomp_file"`
	Volumes     []volume `json:"volumes"`
	Buckets     []bucket `json:"buckets"`
	// Layerable allows the changes on the disk to become an image layer.
	Layerable bool `json:"layerable"`
	// ServesVolume starts the helper on the only volume, beside the sandboxes that mount it, without image, disk and programs.
	ServesVolume bool `json:"serves_volume"`
}

type limits struct {
	MemoryBytes int64 `json:"memory_bytes"`
	Pids        int64 `json:"pids"`
	CPUMillis   int64 `json:"cpu_millis"`
}

type networkPlan struct {
	Mode string `json:"mode"`
	// Network is the base of the address range, Gateway the host's address in it, both IPv4.
	Network string `json:"network"`
	Gateway string `json:"gateway"`
	// Group of the sandbox's interface on the host, by which Rules match it.
	Group uint32 `json:"group"`
	// Rules is the firewall ruleset to load before the first sandbox with egress starts.
	Rules string `json:"rules"`
	Nft   string `json:"nft"`
	// Restrict is the firewall table of one sandbox, a template with {{interface}}, loaded before the sandbox runs.
	Restrict string `json:"restrict"`
}

type reply struct {
	ID      int64    `json:"id"`
	Ok      bool     `json:"ok"`
	Result  any      `json:"result,omitempty"`
	Failure *failure `json:"error,omitempty"`
}

type failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// stepError names the step that failed; the code tells the platform where the fault is.
type stepError struct {
	code string
	step string
	err  error
}

func (e *stepError) Error() string { return e.step + ": " + e.err.Error() }
func (e *stepError) Unwrap() error { return e.err }

func step(name string, err error) error {
	if err == nil {
		return nil
	}
	return &stepError{code: "RUNTIME_FAILED", step: name, err: err}
}

func rootfsStep(name string, err error) error {
	if err == nil {
		return nil
	}
	code := "ROOTFS_FAILED"
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		code = "DISK_FULL"
	}
	return &stepError{code: code, step: name, err: err}
}

func failureOf(err error) *failure {
	var known *stepError
	if errors.As(err, &known) {
		return &failure{Code: known.code, Message: err.Error()}
	}
	return &failure{Code: "RUNTIME_FAILED", Message: err.Error()}
}

func (h *host) handle(r *request) (any, error) {
	if r.Op == "list" {
		return h.list()
	}
	if !validID(r.Sandbox) {
		return nil, step("read a request", errors.New("invalid sandbox ID"))
	}
	unlock := h.locks.lock(r.Sandbox)
	defer unlock()
	switch r.Op {
	case "start":
		if r.Plan == nil {
			return nil, step("read a request", errors.New("no plan"))
		}
		unlockVolumes, err := h.lockVolumes(r.Plan.Volumes)
		if err != nil {
			return nil, err
		}
		defer unlockVolumes()
		return h.start(r.Sandbox, r.Plan)
	case "prepare":
		if r.Plan == nil {
			return nil, step("read a request", errors.New("no plan"))
		}
		return h.prepare(r.Sandbox, r.Plan)
	case "adjust":
		if r.Limits == nil {
			return nil, step("read a request", errors.New("no limits"))
		}
		return h.adjust(r)
	case "restrict":
		if r.Nft == "" || r.Rules == "" {
			return nil, step("read a request", errors.New("no rules"))
		}
		return h.replaceRestriction(r)
	case "inspect":
		return h.inspect(r.Sandbox)
	case "stats":
		return h.stats(r.Sandbox)
	case "pause":
		return map[string]any{}, h.pause(r.Sandbox)
	case "resume":
		return map[string]any{}, h.cgroups.thaw(r.Sandbox)
	case "snapshot":
		return h.snapshot(r)
	case "copy_disk":
		return h.copyDiskOf(r.From, r.To, r.Files)
	// The lock is that of the volume, whose ID is in the field of the sandbox's.
	case "make_volume":
		return makeVolume(r.From, r.To)
	case "copy_volume":
		return h.copyVolume(r)
	case "resize_volume":
		return h.resizeVolume(r)
	case "stop":
		return h.stop(r.Sandbox, r.Timeout)
	case "clean":
		return h.clean(r.Sandbox)
	}
	return nil, step("read a request", errors.New("unknown operation "+r.Op))
}

// validID ensures that an ID is exactly one path segment.
func validID(id string) bool {
	if id == "" || len(id) > 64 || strings.HasPrefix(id, ".") {
		return false
	}
	for _, char := range id {
		if !(char >= 'a' && char <= 'z' || char >= '0' && char <= '9' || char == '_' || char == '-') {
			return false
		}
	}
	return true
}

// keyedLocks serializes operations on each sandbox.
type keyedLocks struct {
	mu   sync.Mutex
	held map[string]*keyedLock
}

type keyedLock struct {
	mu    sync.Mutex
	users int
}

func (k *keyedLocks) lock(key string) func() {
	k.mu.Lock()
	if k.held == nil {
		k.held = map[string]*keyedLock{}
	}
	entry := k.held[key]
	if entry == nil {
		entry = &keyedLock{}
		k.held[key] = entry
	}
	entry.users++
	k.mu.Unlock()
	entry.mu.Lock()
	return func() {
		entry.mu.Unlock()
		k.mu.Lock()
		if entry.users--; entry.users == 0 {
			delete(k.held, key)
		}
		k.mu.Unlock()
	}
}

func decode[T any](content []byte) (T, error) {
	var value T
	err := json.Unmarshal(content, &value)
	return value, err
}
