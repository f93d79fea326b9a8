package host

import (
	"os"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// After a burst of starts any number of descriptors may be open, so a child's files may be right below the program's
// descriptor.
func TestAChildStartsWhereverItsFilesLieBesideTheProgram(t *testing.T) {
	program, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	null, err := os.OpenFile("/dev/null", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	const files, highest = 5, 200
	for distance := 1; distance <= 3*files; distance++ {
		kept := duplicate(t, program, highest+distance)
		high := duplicate(t, null, highest)
		inherited := []uintptr{null.Fd(), null.Fd(), null.Fd(), null.Fd(), uintptr(high)}
		own, err := aboveChildFiles(kept, inherited)
		if err != nil {
			t.Fatal(err)
		}
		pid, err := syscall.ForkExec("/proc/self/fd/"+strconv.Itoa(own), []string{"program", "-test.run=^$"},
			&syscall.ProcAttr{Files: inherited})
		if err != nil {
			t.Fatalf("with its files %d below the program: %v", distance, err)
		}
		var status unix.WaitStatus
		if _, err := unix.Wait4(pid, &status, 0, nil); err != nil || status.ExitStatus() != 0 {
			t.Fatalf("with its files %d below the program: %v, %v", distance, err, status)
		}
		for _, fd := range []int{kept, high, own} {
			_ = unix.Close(fd)
		}
	}
}

func duplicate(t *testing.T, file *os.File, number int) int {
	t.Helper()
	if err := unix.Dup3(int(file.Fd()), number, unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	return number
}
