package agent

import (
	"errors"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"svc.dev/sandbox-agent/internal/cgroup"
)

// request is the payload of an open frame. Each operation reads the fields that it needs.
type request struct {
	Op      string            `json:"op"`
	Argv    []string          `json:"argv"`
	Env     map[string]string `json:"env"`
	Cwd     string            `json:"cwd"`
	Tty     *windowSize       `json:"tty"`
	Session string            `json:"session"`
	Since   *uint64           `json:"since"`
	Linger  int               `json:"linger_ms"`
	Grace   int               `json:"grace_ms"`

	Detached bool   `json:"detached"`
	Tag      string `json:"tag"`
	Pid      int    `json:"pid"`
	Timeout  int    `json:"timeout_ms"`
	User     string `json:"user"`
	Signal   string `json:"signal"`

	Path      string   `json:"path"`
	Target    string   `json:"target"`
	Sources   []string `json:"sources"`
	Offset    int64    `json:"offset"`
	Length    *int64   `json:"length"`
	Mode      *int     `json:"mode"`
	Cursor    string   `json:"cursor"`
	Limit     int      `json:"limit"`
	Append    bool     `json:"append"`
	Parents   bool     `json:"parents"`
	Recursive bool     `json:"recursive"`
	Overwrite bool     `json:"overwrite"`

	When *precondition `json:"when"`

	Uid *uint32 `json:"uid"`
	Gid *uint32 `json:"gid"`

	Attributes      map[string]string `json:"attributes"`
	AttributesBelow string            `json:"attributes_below"`

	MaxEntries int64 `json:"max_entries"`
	MaxBytes   int64 `json:"max_bytes"`
	MaxRatio   int64 `json:"max_ratio"`
	MaxWatches int   `json:"max_watches"`

	Architecture string `json:"architecture"`

	Port uint16 `json:"port"`
}

type windowSize struct {
	Cols uint16 `json:"cols"`
	Rows uint16 `json:"rows"`
}

type controlMessage struct {
	Type string `json:"type"`
	Cols uint16 `json:"cols"`
	Rows uint16 `json:"rows"`
	Name string `json:"name"`
}

// failure is the error in an end frame.
type failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	// Path is the one at fault, where a request has several.
	Path string `json:"path,omitempty"`
}

func (f *failure) Error() string { return f.Message }

func fail(code, message string) *failure { return &failure{Code: code, Message: message} }

func (a *agent) handle(s *stream, r *request) (any, *failure) {
	if !servedWhilePaused(r.Op) && !a.pauser.await(s.done) {
		return nil, fail("ABORTED", "the stream was reset")
	}
	if servesVolume && !strings.HasPrefix(r.Op, "file.") {
		return nil, fail("UNKNOWN_OPERATION", "a volume has only files")
	}
	switch r.Op {
	case "process.start":
		return a.startProcess(s, r)
	case "process.list":
		return a.listProcesses(), nil
	case "process.attach":
		return a.attachProcess(s, r)
	case "process.input":
		return a.typeToProcess(s, r)
	case "process.close_input":
		return a.closeInput(r)
	case "process.signal":
		return a.signalProcess(r)
	case "process.resize":
		return a.resizeProcess(r)
	case "session.attach":
		return a.attachSession(s, r)
	case "session.screen":
		return a.serveScreen(s, r)
	case "session.list":
		return a.listSessions(), nil
	case "session.kill":
		return a.killSession(r)
	case "user.get":
		return getUser(r)
	case "user.ensure":
		return ensureUser(r)
	case "file.list":
		return listDirectory(r)
	case "file.stat":
		return statFile(r)
	case "file.read":
		return readFile(s, r)
	case "file.write":
		return writeFile(s, r)
	case "file.compose":
		return composeFile(s, r)
	case "file.mkdir":
		return makeDirectory(r)
	case "file.remove":
		return removeFile(r)
	case "file.set":
		return setFile(r)
	case "file.move":
		return moveFile(r)
	case "file.archive":
		return sendArchive(s, r)
	case "file.unpack":
		return receiveArchive(s, r)
	case "file.watch":
		return watchFiles(s, r)
	case "port.dial":
		return dialPort(s, r)
	case "sftp":
		return serveSftp(s)
	case "root.measure":
		return measureRoot(r)
	case "root.save":
		return saveRoot(s, r)
	case "root.restore":
		return restoreRoot(s, r)
	case "usage":
		return readUsage()
	case "pause":
		if failed := a.pauser.pause(os.Getpid()); failed != nil {
			return nil, failed
		}
		return map[string]any{}, nil
	case "resume":
		a.pauser.resume(os.Getpid())
		return map[string]any{}, nil
	case "shutdown":
		a.shutdown()
		return map[string]any{}, nil
	}
	return nil, fail("UNKNOWN_OPERATION", "unknown operation "+r.Op)
}

// readUsage returns the sandbox's resource usage, for engines that do not measure it.
func readUsage() (any, *failure) {
	group, err := cgroup.Own()
	if err != nil {
		return nil, fromError(err)
	}
	usage := struct {
		cgroup.Usage
		DiskBytes int64 `json:"disk_bytes"`
	}{group.Usage(), diskUsage()}
	return usage, nil
}

// fromError maps an errno to an error code of PROTOCOL.md.
func fromError(err error) *failure {
	var errno unix.Errno
	if !errors.As(err, &errno) {
		return fail("IO_ERROR", err.Error())
	}
	code := "IO_ERROR"
	switch errno {
	case unix.ENOENT:
		code = "NOT_FOUND"
	case unix.EACCES, unix.EPERM, unix.EROFS, unix.ETXTBSY:
		code = "ACCESS_DENIED"
	case unix.ENOTDIR:
		code = "NOT_A_DIRECTORY"
	case unix.EISDIR:
		code = "IS_A_DIRECTORY"
	case unix.ENXIO, unix.ENODEV: // a socket, or a device without a driver
		code = "NOT_A_FILE"
	case unix.EEXIST:
		code = "ALREADY_EXISTS"
	case unix.ENOTEMPTY:
		code = "NOT_EMPTY"
	case unix.EBUSY, unix.EXDEV:
		code = "PROTECTED_PATH"
	case unix.ENOSPC, unix.EDQUOT:
		code = "DISK_FULL"
	case unix.EINVAL, unix.ENAMETOOLONG, unix.ELOOP:
		code = "INVALID_PATH"
	case unix.EAGAIN, unix.ENOMEM:
		code = "LIMIT_REACHED"
	}
	return fail(code, errno.Error())
}
