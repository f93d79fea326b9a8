package agent

import (
	"io"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	passwdFile = "/etc/passwd"
	groupFile  = "/etc/group"
	shadowFile = "/etc/shadow"
	// A larger file is not a user list.
	maxUsersBytes = 1 << 20
	firstUid      = 1000
	lastUid       = 60000
	maxGroups     = 64
)

// user is an account in the sandbox's own files, which the sandbox can change and which are parsed as untrusted input.
type user struct {
	name  string
	uid   int
	gid   int
	home  string
	shell string
}

// findUser looks up a user by name, or by number if no user has it as a name.
func findUser(name string) (*user, *failure) {
	content, err := readUsers(passwdFile)
	if err != nil && err != unix.ENOENT {
		return nil, fromError(err)
	}
	var numbered *user
	for line := range strings.Lines(content) {
		found := parseUser(line)
		if found == nil {
			continue
		}
		if found.name == name {
			return found, nil
		}
		if numbered == nil && strconv.Itoa(found.uid) == name {
			numbered = found
		}
	}
	if numbered != nil {
		return numbered, nil
	}
	if name == "root" { // root exists even in an image without a user list
		return &user{name: "root", home: defaultHome}, nil
	}
	return nil, fail("NO_SUCH_USER", "no user "+name+" in this sandbox")
}

func parseUser(line string) *user {
	fields := strings.Split(strings.TrimRight(line, "\n"), ":")
	if len(fields) < 7 || fields[0] == "" {
		return nil
	}
	uid, uidError := strconv.ParseUint(fields[2], 10, 31)
	gid, gidError := strconv.ParseUint(fields[3], 10, 31)
	if uidError != nil || gidError != nil {
		return nil
	}
	home := fields[5]
	if !strings.HasPrefix(home, "/") {
		home = "/"
	}
	return &user{name: fields[0], uid: int(uid), gid: int(gid), home: path.Clean(home), shell: fields[6]}
}

// credential returns the IDs that a process of the user starts with.
func (u *user) credential() *syscall.Credential {
	groups := []uint32{uint32(u.gid)}
	content, _ := readUsers(groupFile)
	for line := range strings.Lines(content) {
		fields := strings.Split(strings.TrimRight(line, "\n"), ":")
		if len(fields) < 4 || len(groups) == maxGroups {
			continue
		}
		gid, err := strconv.ParseUint(fields[2], 10, 31)
		for _, member := range strings.Split(fields[3], ",") {
			if err == nil && member == u.name && int(gid) != u.gid {
				groups = append(groups, uint32(gid))
			}
		}
	}
	return &syscall.Credential{Uid: uint32(u.uid), Gid: uint32(u.gid), Groups: groups}
}

func (u *user) describe() map[string]any {
	return map[string]any{"name": u.name, "uid": u.uid, "gid": u.gid, "home": u.home, "shell": u.shell}
}

func getUser(r *request) (any, *failure) {
	found, failed := findUser(r.User)
	if failed != nil {
		return nil, failed
	}
	return found.describe(), nil
}

// ensureUser adds the user with a group and a home folder, unless the name exists.
func ensureUser(r *request) (any, *failure) {
	if !isUserName(r.User) {
		return nil, fail("INVALID_USER", "a user name must have 1 to 32 characters: lower-case letters, digits, - and _")
	}
	if found, failed := findUser(r.User); failed == nil {
		return found.describe(), nil
	} else if failed.Code != "NO_SUCH_USER" {
		return nil, failed
	}
	made := &user{name: r.User, uid: freeNumber(), home: "/home/" + r.User, shell: loginShell(map[string]string{"PATH": defaultPath})}
	made.gid = made.uid
	number := strconv.Itoa(made.uid)
	lines := []struct{ file, line string }{
		{groupFile, made.name + ":x:" + number + ":"},
		{shadowFile, made.name + ":!:19000:0:99999:7:::"}, // no password matches
		{passwdFile, made.name + ":x:" + number + ":" + number + "::" + made.home + ":" + made.shell},
	}
	for _, each := range lines { // the user list is last, so that everything it refers to exists
		if err := appendLine(each.file, each.line); err != nil {
			return nil, fromError(err)
		}
	}
	if failed := makeDirectories(made.home, 0o755, made); failed != nil {
		return nil, failed
	}
	return made.describe(), nil
}

func isUserName(name string) bool {
	if name == "" || len(name) > 32 || name[0] == '-' || (name[0] >= '0' && name[0] <= '9') {
		return false
	}
	for _, letter := range name {
		if (letter < 'a' || letter > 'z') && (letter < '0' || letter > '9') && letter != '-' && letter != '_' {
			return false
		}
	}
	return true
}

// freeNumber returns a number that no user and no group has.
func freeNumber() int {
	taken := map[string]bool{}
	for _, file := range []string{passwdFile, groupFile} {
		content, _ := readUsers(file)
		for line := range strings.Lines(content) {
			if fields := strings.Split(line, ":"); len(fields) > 2 {
				taken[fields[2]] = true
			}
		}
	}
	for number := firstUid; number < lastUid; number++ {
		if !taken[strconv.Itoa(number)] {
			return number
		}
	}
	return lastUid
}

// readUsers reads a regular file of limited size and never blocks.
func readUsers(name string) (string, error) {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	file := os.NewFile(uintptr(fd), name)
	defer file.Close()
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return "", err
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFREG || stat.Size > maxUsersBytes {
		return "", unix.EINVAL
	}
	content, err := io.ReadAll(io.LimitReader(file, maxUsersBytes))
	return string(content), err
}

// appendLine replaces the file atomically. It creates a missing file, except the password file.
func appendLine(name, line string) error {
	content, err := readUsers(name)
	if err == unix.ENOENT && name == shadowFile {
		return nil
	}
	if err != nil && err != unix.ENOENT {
		return err
	}
	if content != "" && !strings.HasSuffix(content, "\n") {
		content += "\n"
	}
	mode, gid := uint32(0o644), 0
	var stat unix.Stat_t
	if unix.Stat(name, &stat) == nil {
		mode, gid = stat.Mode&0o7777, int(stat.Gid)
	}
	if err := os.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	temporary := path.Join(path.Dir(name), temporaryName(writePrefix))
	fd, err := unix.Open(temporary, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	file := os.NewFile(uintptr(fd), temporary)
	_, err = file.WriteString(content + line + "\n")
	if err == nil {
		err = unix.Fchown(fd, 0, gid)
	}
	if err == nil {
		err = unix.Fchmod(fd, mode)
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = unix.Rename(temporary, name)
	}
	if err != nil {
		_ = unix.Unlink(temporary)
	}
	return err
}

// makeDirectories creates the folder and its parents. Created folders belong to the owner, or to root if it is nil.
func makeDirectories(name string, mode os.FileMode, owner *user) *failure {
	if owner == nil {
		return orNil(os.MkdirAll(name, mode))
	}
	if isDirectory(name) {
		return nil
	}
	if parent := path.Dir(name); parent != name {
		if failed := makeDirectories(parent, 0o755, owner); failed != nil {
			return failed
		}
	}
	err := os.Mkdir(name, mode)
	if err != nil && isDirectory(name) {
		return nil // created by another process in the meantime
	}
	if err != nil {
		return fromError(err)
	}
	return orNil(unix.Lchown(name, owner.uid, owner.gid))
}

// ownerOf returns the owner of new files; nil for root.
func ownerOf(r *request) (*user, *failure) {
	if r.User == "" || r.User == "root" {
		return nil, nil
	}
	return findUser(r.User)
}
