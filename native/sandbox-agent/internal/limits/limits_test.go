package limits

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// childVariable makes a copy of this test program apply its limits and report what is left.
const childVariable = "SVC_LIMITS_CHILD"

// sample allows everything that a Go program needs except sockets other than unix ones.
const sample = `{"capabilities":["CAP_CHOWN","CAP_SETPCAP"],"seccomp":{"defaultAction":"SCMP_ACT_ERRNO","defaultErrnoRet":1,
"architectures":["SCMP_ARCH_X86_64","SCMP_ARCH_AARCH64"],"syscalls":[{"names":["read","write","openat","close","fstat","newfstatat",
"getdents64","mmap","munmap","mprotect","madvise","rt_sigaction","rt_sigprocmask","rt_sigreturn","sigaltstack","futex","gettid","getpid",
"tgkill","nanosleep","sched_yield","clone","exit","exit_group","prctl","capget","epoll_ctl","epoll_pwait","epoll_create1","eventfd2",
"fcntl","lseek","readlinkat","getrandom","execve","wait4","waitid","pipe2","dup3","kill","set_robust_list","rseq","prlimit64","brk","uname"],
"action":"SCMP_ACT_ALLOW"},
{"names":["socket"],"action":"SCMP_ACT_ALLOW","args":[{"index":0,"value":1,"op":"SCMP_CMP_EQ"}]}]}}`

func TestMain(m *testing.M) {
	if required := os.Getenv(childVariable); required != "" {
		os.Exit(report(required == "required"))
	}
	os.Exit(m.Run())
}

func report(required bool) int {
	if err := Apply(required); err != nil {
		os.Stdout.WriteString("failed: " + err.Error() + "\n")
		return 1
	}
	for name, family := range map[string]int{"unix": unix.AF_UNIX, "vsock": unix.AF_VSOCK, "inet": unix.AF_INET} {
		fd, err := unix.Socket(family, unix.SOCK_STREAM, 0)
		if err == nil {
			_ = unix.Close(fd)
			os.Stdout.WriteString(name + " opened\n")
		} else {
			os.Stdout.WriteString(name + ": " + err.Error() + "\n")
		}
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 1
	}
	_, _ = os.Stdout.Write(status)
	return 0
}

// runBeside runs a copy of this program in a folder of its own, with the limits in it if there are any.
func runBeside(t *testing.T, limits, required string) string {
	t.Helper()
	folder := t.TempDir()
	content, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(folder, "program")
	if err := os.WriteFile(program, content, 0o755); err != nil {
		t.Fatal(err)
	}
	if limits != "" {
		if err := Write(folder, []byte(limits)); err != nil {
			t.Fatal(err)
		}
	}
	child := exec.Command(program)
	child.Env = []string{childVariable + "=" + required}
	output, _ := child.Output()
	return string(output)
}

func TestRestrictsEveryThreadOfTheProgramBesideTheFile(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, which has capabilities to drop")
	}
	output := runBeside(t, sample, "required")
	for _, line := range []string{"unix opened\n", "vsock: operation not permitted\n", "inet: operation not permitted\n",
		"\nNoNewPrivs:\t1\n", "\nSeccomp:\t2\n", "\nCapBnd:\t0000000000000101\n", "\nCapPrm:\t0000000000000101\n"} {
		if !strings.Contains("\n"+output, line) {
			t.Errorf("%q is missing in %s", line, output)
		}
	}
}

func TestFailsWithoutLimitsOnlyIfTheyAreRequired(t *testing.T) {
	if output := runBeside(t, "", "required"); !strings.HasPrefix(output, "failed: ") {
		t.Errorf("started: %s", output)
	}
	if output := runBeside(t, "", "optional"); !strings.Contains(output, "inet opened\n") {
		t.Errorf("did not start: %s", output)
	}
}

func TestFailsWhenTheLimitsCannotBeRead(t *testing.T) {
	folder := t.TempDir()
	for _, content := range []string{"", "{", `{"capabilities":[],"filter":7}`, strings.Repeat(" ", maxBytes+1)} {
		path := filepath.Join(folder, fileName)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := read(path); err == nil {
			t.Errorf("%.20q was read", content)
		}
	}
}

func TestWritesNothingThatDoesNotCompile(t *testing.T) {
	folder := t.TempDir()
	for _, config := range []string{"", "{}", `{"capabilities":[],"seccomp":{"defaultAction":"SCMP_ACT_LOG"}}`} {
		if err := Write(folder, []byte(config)); err == nil {
			t.Errorf("%q is accepted", config)
		}
	}
	if entries, _ := os.ReadDir(folder); len(entries) > 0 {
		t.Errorf("%v was written", entries)
	}
}
