package agent

import (
	"net"
	"os"
	"path/filepath"
	"testing"
)

func TestInstallCopiesTheProgram(t *testing.T) {
	target := filepath.Join(t.TempDir(), "agent")
	for range 2 { // a second run replaces the file
		if code := Install([]string{target}); code != 0 {
			t.Fatalf("exit code %d", code)
		}
	}
	own, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	copied, err := os.ReadFile(target)
	if err != nil || string(copied) != string(own) {
		t.Fatalf("the copy is different (%v)", err)
	}
	info, err := os.Stat(target)
	if err != nil || info.Mode().Perm()&0o111 == 0 {
		t.Fatalf("the copy is not executable (%v)", err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(target)); len(entries) != 1 {
		t.Fatalf("%d files remain", len(entries))
	}
}

func TestInstallFails(t *testing.T) {
	if code := Install([]string{filepath.Join(t.TempDir(), "absent", "agent")}); code != 1 {
		t.Fatalf("exit code %d", code)
	}
	if code := Install(nil); code != 2 {
		t.Fatalf("exit code %d", code)
	}
}

func TestProbeTellsReachedFromBlocked(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	open := listener.Addr().String()
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := other.Addr().String()
	_ = other.Close()
	defer listener.Close()
	for _, each := range []struct {
		arguments []string
		code      int
	}{
		{[]string{"reached", "5", open}, 0},
		{[]string{"blocked", "5", closed}, 0},
		{[]string{"reached", "1", closed}, 1},
		{[]string{"blocked", "1", open}, 1},
		{[]string{"blocked", "5", closed, closed}, 0},
		{[]string{"blocked", "2", closed, open}, 1},
		{[]string{"reached", "1", open, closed}, 1},
		{nil, 2},
		{[]string{"reached", "5"}, 2},
		{[]string{"open", "5", open}, 2},
		{[]string{"reached", "0", open}, 2},
		{[]string{"reached", "x", open}, 2},
		{[]string{"reached", "601", open}, 2},
		{[]string{"reached", "5", "localhost:80"}, 2},
		{[]string{"reached", "5", "127.0.0.1"}, 2},
		{[]string{"reached", "5", "127.0.0.1:0"}, 2},
		{[]string{"reached", "5", "127.0.0.1:65536"}, 2},
		{[]string{"reached", "5", "127.0.0.256:80"}, 2},
		{[]string{"reached", "5", "[::1]:80"}, 2},
	} {
		if code := Probe(each.arguments); code != each.code {
			t.Errorf("%v: got exit code %d, want %d", each.arguments, code, each.code)
		}
	}
}

func TestTheClusterIsForgotten(t *testing.T) {
	for name, stays := range map[string]bool{
		"KUBERNETES_SERVICE_HOST":       false,
		"KUBERNETES_SERVICE_PORT_HTTPS": false,
		"KUBERNETES_PORT":               false,
		"KUBERNETES_PORT_443_TCP_ADDR":  false,
		"KUBERNETES_NAMESPACE":          true,
		"MY_KUBERNETES_SERVICE_HOST":    true,
	} {
		t.Setenv(name, "value")
		defer func() {
			if _, found := os.LookupEnv(name); found != stays {
				t.Errorf("%s: %v", name, found)
			}
		}()
	}
	forgetCluster()
}

func TestHaltIsRefusedOutsideASandbox(t *testing.T) {
	if code := Halt([]string{"0"}); code != 1 { // a test has a parent process
		t.Fatalf("exit code %d", code)
	}
	for _, arguments := range [][]string{nil, {"-1"}, {"x"}, {"3600001"}} {
		if code := Halt(arguments); code != 2 {
			t.Fatalf("%v: exit code %d", arguments, code)
		}
	}
}
