package host

import (
	"errors"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// preparedStart is the first half of a start, done in advance, which is the same for all sandboxes of one size and
// network: a first process in its namespaces, its control group, its network and an empty disk. It has no image, name
// or files and runs no tenant code. It ends with this process: the first process sees its socket close, and the disk's
// mount is detached.
type preparedStart struct {
	started *builtinStart
	state   *state
	plan    *plan
	// mount is a detached mount of the new disk at plan.Disk, without an ID mapping so far.
	mount int
}

func (r *preparedStart) close() {
	r.started.close()
	_ = unix.Close(r.mount)
}

// preparedStarts are indexed by the ID of the future sandbox.
type preparedStarts struct {
	mu    sync.Mutex
	ready map[string]*preparedStart
}

func (s *preparedStarts) put(r *preparedStart) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready == nil {
		s.ready = map[string]*preparedStart{}
	}
	s.ready[r.state.Sandbox] = r
}

// take returns nil if there is no prepared start with that ID.
func (s *preparedStarts) take(sandbox string) *preparedStart {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.ready[sandbox]
	delete(s.ready, sandbox)
	return r
}

func (s *preparedStarts) ids() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := []string{}
	for id := range s.ready {
		ids = append(ids, id)
	}
	return ids
}

// prepare does the first half of a start. The plan's disk is a temporary file, which the start moves into place.
func (h *host) prepare(sandbox string, p *plan) (any, error) {
	if p.RuntimeKind != "builtin" {
		return nil, step("prepare a start", errors.New("only the builtin runtime supports prepared starts"))
	}
	if _, err := h.clean(sandbox); err != nil {
		return nil, err
	}
	if err := h.tryPrepare(sandbox, p); err != nil {
		_, _ = h.clean(sandbox)
		_ = os.Remove(p.Disk)
		return nil, err
	}
	return map[string]any{}, nil
}

func (h *host) tryPrepare(sandbox string, p *plan) error {
	s, err := h.claimFolder(sandbox, p, p.Disk)
	if err != nil {
		return err
	}
	if err := h.cgroups.create(sandbox, p.Limits); err != nil {
		return err
	}
	started, err := h.beginAlone(sandbox, h.baseOf(s, p), p.UidCount)
	if err != nil {
		return err
	}
	ready := &preparedStart{started: started, state: s, plan: p, mount: -1}
	s.Pid = started.pid
	s.StartTicks, err = startTicks(s.Pid)
	if err == nil {
		err = h.connect(&p.Network, s.Slot, started.spaces.network)
	}
	if err == nil {
		ready.mount, err = freshDisk(p)
	}
	if err == nil {
		err = h.writeState(s)
	}
	if err != nil {
		ready.close()
		return err
	}
	h.prepared.put(ready)
	return nil
}

// beginAlone starts the first process while no mount of a sandbox exists here: the process waits with a copy of this
// mount namespace, which would keep those mounts alive.
func (h *host) beginAlone(sandbox string, base, count uint32) (*builtinStart, error) {
	if !h.mounting.TryLock() {
		return nil, &stepError{code: "NO_CAPACITY", step: "prepare a start", err: errors.New("other starts are in progress")}
	}
	defer h.mounting.Unlock()
	return h.beginBuiltin(sandbox, base, count)
}

// freshDisk returns a detached mount of a new disk.
func freshDisk(p *plan) (int, error) {
	if err := copyDisk(p.Template, p.Disk); err != nil {
		return -1, rootfsStep("make the disk", err)
	}
	device, handle, err := attachDisk(p.Disk)
	if err != nil {
		return -1, err
	}
	defer handle.Close()
	mount, err := mountDetached(device)
	if err != nil {
		return -1, err
	}
	if err := fillDisk(descriptorPath(mount), p.Files); err != nil {
		_ = unix.Close(mount)
		return -1, err
	}
	return mount, nil
}

// startPrepared does the second half of a start, which makes it a certain sandbox. If it fails, the sandbox can still
// be started from scratch.
func (h *host) startPrepared(r *preparedStart, p *plan) (*state, error) {
	defer r.close()
	s := r.state
	if !r.serves(p) || !alive(s) {
		return nil, step("use a prepared start", errors.New("the prepared start does not match the plan"))
	}
	if p.Limits != r.plan.Limits {
		if err := h.cgroups.adjust(s.Sandbox, p.Limits); err != nil {
			return nil, err
		}
	}
	place, base := h.place(s.Sandbox, p.RuntimeKind), h.baseOf(s, p)
	if err := r.mountRoot(place, p, base); err != nil {
		return nil, err
	}
	if err := h.finish(r.started, place, p, base); err != nil {
		return nil, err
	}
	if err := unmountRoot(place); err != nil {
		return nil, err
	}
	s.PreparedDisk, s.Volumes = "", p.Volumes
	return s, h.writeState(s)
}

// serves reports whether a start with that plan would have produced the same state so far.
func (r *preparedStart) serves(p *plan) bool {
	made := r.plan
	_, err := os.Lstat(p.Disk)
	return errors.Is(err, os.ErrNotExist) && p.RuntimeKind == made.RuntimeKind && p.Template == made.Template &&
		p.UidBase == made.UidBase && p.UidCount == made.UidCount && p.Network == made.Network
}

func (r *preparedStart) mountRoot(place string, p *plan, base uint32) error {
	userns := int(r.started.spaces.user.Fd())
	lower, err := mountLayers(p.Layers, userns, place)
	if err != nil {
		return err
	}
	if err := writeFirstFiles(descriptorPath(r.mount), p.Files); err != nil {
		return err
	}
	if err := os.Rename(r.plan.Disk, p.Disk); err != nil {
		return rootfsStep("move the disk into place", err)
	}
	if err := mountMapped(r.mount, userns, unix.MOUNT_ATTR_NODEV, place+"/disk"); err != nil {
		return rootfsStep("map the disk's IDs", err)
	}
	return mountOverlay(lower, place, base, p.Layerable)
}

// dropPrepared removes prepared starts that have not been used.
func (h *host) dropPrepared() {
	for _, sandbox := range h.prepared.ids() {
		unlock := h.locks.lock(sandbox)
		_, _ = h.clean(sandbox)
		unlock()
	}
}
