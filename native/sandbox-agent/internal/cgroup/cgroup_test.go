package cgroup

import (
	"maps"
	"os"
	"path/filepath"
	"testing"
)

func TestTheSystemsOwnMountOfAControllerCounts(t *testing.T) {
	found, options := Mounts(`93 92 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
105 93 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct
108 93 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
149 93 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw,nsdelegate
393 89 0:32 / /mnt/other rw,relatime - cgroup cgroup rw,memory
394 393 0:38 / /mnt/other rw,relatime - cgroup2 cgroup2 rw,nsdelegate
`)
	want := map[string]string{
		"cpu":     "/sys/fs/cgroup/cpu",
		"cpuacct": "/sys/fs/cgroup/cpu",
		"memory":  "/sys/fs/cgroup/memory",
		"unified": "/sys/fs/cgroup/unified",
	}
	if !maps.Equal(found, want) {
		t.Fatalf("found %v, want %v", found, want)
	}
	if options != "rw,nsdelegate" {
		t.Fatalf("options of v2: %s", options)
	}
}

func TestUsage(t *testing.T) {
	unified := folder(t, map[string]string{
		"cpu.stat":       "usage_usec 1234567\nuser_usec 1000000\nsystem_usec 234567\n",
		"memory.current": "4194304\n",
		"pids.current":   "7\n",
		"memory.events":  "low 0\nhigh 0\nmax 5\noom 2\noom_kill 3\n",
	})
	first := folder(t, map[string]string{
		"cpuacct.usage":         "1234567890\n",
		"memory.usage_in_bytes": "4194304\n",
		"pids.current":          "7\n",
		"memory.oom_control":    "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n",
	})
	want := Usage{CPUMicroseconds: 1234567, MemoryBytes: 4194304, Pids: 7, OOMKills: 3}
	for name, group := range map[string]Group{
		"v2": {Unified: unified},
		"v1": {"cpuacct": first, "memory": first, "pids": first},
	} {
		if found := group.Usage(); found != want {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

func TestUsageThatIsNotCountedIsUnknown(t *testing.T) {
	unknown := Usage{CPUMicroseconds: Unknown, MemoryBytes: Unknown, Pids: Unknown, OOMKills: Unknown}
	damaged := folder(t, map[string]string{"cpu.stat": "usage_usec many\n", "memory.current": "", "pids.current": "max\n"})
	for name, group := range map[string]Group{
		"no controllers": {},
		"no files":       {Unified: t.TempDir()},
		"damaged files":  {Unified: damaged},
	} {
		if found := group.Usage(); found != unknown {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	at := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(at, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return at
}
