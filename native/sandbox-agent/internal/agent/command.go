package agent

import (
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	defaultHome = "/root"
)

type command struct {
	path string
	argv []string
	env  []string
	cwd  string
	// as is nil for root.
	as *syscall.Credential
	// owner receives the terminal; nil for root.
	owner *user
}

// resolveCommand turns a request into the arguments of execve. Without argv, it returns a login shell.
func resolveCommand(r *request) (*command, *failure) {
	env := map[string]string{"PATH": defaultPath, "HOME": rootHome(passwdFile), "USER": "root", "LOGNAME": "root", "LANG": "C.UTF-8"}
	for _, entry := range os.Environ() { // PID 1 received the image's environment
		if name, value, found := strings.Cut(entry, "="); found {
			env[name] = value
		}
	}
	owner, failed := ownerOf(r)
	if failed != nil {
		return nil, failed
	}
	if owner != nil {
		env["HOME"], env["USER"], env["LOGNAME"] = owner.home, owner.name, owner.name
	}
	if r.Tty != nil {
		env["TERM"], env["COLORTERM"] = "xterm-256color", "truecolor"
	}
	for name, value := range r.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00") {
			return nil, fail("INVALID_ENVIRONMENT", "environment variable names must not be empty or contain = or NUL")
		}
		env[name] = value
	}
	argv := r.Argv
	if len(argv) == 0 {
		argv = []string{loginShell(env), "-il"}
		env["SHELL"] = argv[0]
	}
	for _, argument := range argv {
		if strings.Contains(argument, "\x00") {
			return nil, fail("INVALID_COMMAND", "arguments must not contain NUL")
		}
	}
	path, err := lookUp(argv[0], env["PATH"])
	if err != nil {
		if err == unix.EACCES {
			return nil, fail("COMMAND_NOT_EXECUTABLE", argv[0]+": permission denied")
		}
		return nil, fail("COMMAND_NOT_FOUND", argv[0]+": not found")
	}
	cwd := r.Cwd
	if cwd == "" {
		cwd = usualDirectory(env["HOME"])
		if owner != nil && isDirectory(owner.home) {
			cwd = owner.home
		}
	}
	if !strings.HasPrefix(cwd, "/") {
		cwd = env["HOME"] + "/" + cwd
	}
	if !isDirectory(cwd) {
		return nil, fail("INVALID_DIRECTORY", cwd+": not a directory")
	}
	flat := make([]string, 0, len(env))
	for name, value := range env {
		flat = append(flat, name+"="+value)
	}
	made := &command{path: path, argv: argv, env: flat, cwd: cwd, owner: owner}
	if owner != nil {
		made.as = owner.credential()
	}
	return made, nil
}

func loginShell(env map[string]string) string {
	for _, candidate := range []string{env["SHELL"], "bash", "zsh", "ash", "sh"} {
		if candidate == "" {
			continue
		}
		if path, err := lookUp(candidate, env["PATH"]); err == nil {
			return path
		}
	}
	return "/bin/sh"
}

func lookUp(name, path string) (string, error) {
	if strings.Contains(name, "/") {
		return name, executable(name)
	}
	failure := error(unix.ENOENT)
	for _, directory := range strings.Split(path, ":") {
		if directory == "" {
			continue
		}
		candidate := directory + "/" + name
		err := executable(candidate)
		if err == nil {
			return candidate, nil
		}
		if err == unix.EACCES {
			failure = err
		}
	}
	return "", failure
}

func executable(path string) error {
	var stat unix.Stat_t
	if err := unix.Stat(path, &stat); err != nil {
		return unix.ENOENT
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFREG || stat.Mode&0o111 == 0 {
		return unix.EACCES
	}
	return nil
}

func isDirectory(path string) bool {
	var stat unix.Stat_t
	return unix.Stat(path, &stat) == nil && stat.Mode&unix.S_IFMT == unix.S_IFDIR
}

// usualDirectory returns the image's working folder, in which PID 1 runs, or else the home folder.
func usualDirectory(home string) string {
	if named, err := os.Getwd(); err == nil && named != "/" && isDirectory(named) {
		return named
	}
	if isDirectory(home) {
		return home
	}
	return "/"
}

// rootHome returns root's home folder from a list of users.
func rootHome(file string) string {
	content, err := readUsers(file)
	if err != nil {
		return defaultHome
	}
	for line := range strings.Lines(content) {
		fields := strings.Split(strings.TrimSpace(line), ":")
		if len(fields) >= 6 && fields[2] == "0" && fields[5] != "" {
			return fields[5]
		}
	}
	return defaultHome
}
