package agent

import (
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"svc.dev/sandbox-agent/internal/frame"
)

// Its stream ends too, and which of both is noticed first is open.
func TestACommandThatEndedLeavesItsBackgroundAlone(t *testing.T) {
	command := exec.Command("sh", "-c", "sleep 600 >/dev/null 2>&1 & echo $!")
	command.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
	output, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	background, err := strconv.Atoi(strings.TrimSpace(string(output)))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Kill(background, unix.SIGKILL)
	p := &piped{pid: command.Process.Pid, exited: make(chan struct{})}
	close(p.exited)
	s := newStream(nil, 1)
	s.abort()
	for range 64 {
		p.killOnAbort(s)
	}
	for range 50 { // a signal takes a moment
		status, err := os.ReadFile("/proc/" + strconv.Itoa(background) + "/stat")
		if err != nil || strings.Contains(string(status), ") Z ") {
			t.Fatalf("the background process was killed: %q, %v", status, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// The platform would treat a frame after a stream's end as a violation.
func TestNothingFollowsTheEndOfAStreamThatLeaves(t *testing.T) {
	ours, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := newConn(&agent{}, theirs)
	const streams = 60
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		over := map[uint32]bool{}
		reader := frame.NewReader(ours)
		for {
			f, err := reader.Read()
			if err == io.EOF {
				return
			}
			if err != nil {
				t.Error(err)
				return
			}
			if f.Stream != 0 && over[f.Stream] {
				t.Errorf("a frame of type %d follows the end of stream %d", f.Type, f.Stream)
			}
			over[f.Stream] = f.Type == frame.End
		}
	}()
	p := &piped{exited: make(chan struct{}), finished: make(chan struct{})}
	stop := make(chan struct{})
	var busy sync.WaitGroup
	repeat := func(work func()) {
		busy.Add(1)
		go func() {
			defer busy.Done()
			for {
				select {
				case <-stop:
					return
				default:
					work()
				}
			}
		}()
	}
	for _, channel := range []byte{channelStdout, channelStderr} {
		buffer := make([]byte, dataHead+16)
		repeat(func() { p.send(channel, buffer, 16) })
	}
	for range 4 { // other writers, so that a frame waits for its turn
		repeat(func() { _ = c.send(frame.Pong, 0, nil) })
	}
	for id := uint32(1); id <= streams; id++ {
		s := newStream(c, id)
		p.listen(s)
		done := make(chan struct{})
		go func() {
			_, failed := p.serve(s)
			c.finish(s, nil, failed)
			close(done)
		}()
		for s.out.has(frame.WindowBytes) { // until it has received something
			runtime.Gosched()
		}
		s.abort()
		<-done
	}
	close(stop)
	busy.Wait()
	_ = theirs.Close()
	<-ended
	_ = ours.Close()
}
