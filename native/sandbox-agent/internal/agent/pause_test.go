package agent

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// startTree runs a shell script in a group of its own, and returns the line that it prints and its further output.
func startTree(t *testing.T, script string) (string, *bufio.Reader) {
	t.Helper()
	command := exec.Command("sh", "-c", script)
	command.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = unix.Kill(-command.Process.Pid, unix.SIGKILL)
		_ = command.Wait()
	})
	reader := bufio.NewReader(output)
	line, err := reader.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line), reader
}

func stateOf(t *testing.T, pid string) byte {
	t.Helper()
	number, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	info, found := readProcess("/proc/"+pid+"/stat", number)
	if !found {
		return 0
	}
	return info.state
}

func TestPauseStopsAllAndResumeContinuesOnlyThose(t *testing.T) {
	// A job that is suspended before the pause, and a grandchild.
	line, _ := startTree(t, `sleep 100 & kill -STOP $!; sh -c 'sleep 100 & echo '$!' $!; wait' & wait`)
	suspended, grandchild, _ := strings.Cut(line, " ")
	p := &pauser{}
	for range 2 { // the second one does nothing
		if failed := p.pause(os.Getpid()); failed != nil {
			t.Fatal(failed)
		}
	}
	for _, each := range processesBelow(os.Getpid()) {
		if each.state != 'T' {
			t.Errorf("process %d is in state %c", each.pid, each.state)
		}
	}
	for range 2 {
		p.resume(os.Getpid())
	}
	if state := stateOf(t, suspended); state != 'T' {
		t.Errorf("the suspended job is in state %c", state)
	}
	for deadline := time.Now().Add(10 * time.Second); stateOf(t, grandchild) == 'T'; time.Sleep(stopPoll) {
		if time.Now().After(deadline) {
			t.Fatal("the grandchild is still stopped")
		}
	}
}

func TestPauseIsNotSeenByAShellWithJobControl(t *testing.T) {
	_, output := startTree(t, `set -m; echo ready; sleep 1; echo "ended $?"`)
	p := &pauser{}
	for range 3 {
		if failed := p.pause(os.Getpid()); failed != nil {
			t.Fatal(failed)
		}
		p.resume(os.Getpid())
	}
	if line, err := output.ReadString('\n'); err != nil || line != "ended 0\n" {
		t.Fatalf("the shell reports %q (%v)", line, err)
	}
}

func TestPausedHelperAnswersNoPing(t *testing.T) {
	p := &pauser{}
	if p.barrier() != nil {
		t.Fatal("it is paused from the start")
	}
	if failed := p.pause(os.Getpid()); failed != nil {
		t.Fatal(failed)
	}
	gone := make(chan struct{})
	close(gone)
	if p.await(gone) {
		t.Fatal("a client that is gone is served")
	}
	served := make(chan bool, 1)
	go func() { served <- p.await(make(chan struct{})) }()
	select {
	case <-served:
		t.Fatal("it serves during the pause")
	case <-time.After(20 * time.Millisecond):
	}
	p.resume(os.Getpid())
	if !<-served {
		t.Fatal("it does not serve after the pause")
	}
}

func TestPauseOfAGrowingTreeStopsNothingForGood(t *testing.T) {
	// Each process starts the next one and ends, which no walk through the tree catches. Outside of a sandbox, this is refused.
	line, _ := startTree(t, `run() { run & }; sleep 100 & echo $!; i=0; while [ $i -lt 100000 ]; do (exit 0) & i=$((i+1)); done`)
	p := &pauser{}
	_ = p.pause(os.Getpid())
	p.resume(os.Getpid())
	if p.barrier() != nil {
		t.Fatal("it is still paused")
	}
	for deadline := time.Now().Add(10 * time.Second); stateOf(t, line) == 'T'; time.Sleep(stopPoll) {
		if time.Now().After(deadline) {
			t.Fatal("a process is still stopped")
		}
	}
}
