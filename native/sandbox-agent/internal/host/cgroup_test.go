package host

import (
	"maps"
	"testing"
)

func TestTheSystemsOwnMountOfAControllerCounts(t *testing.T) {
	found, options := cgroupMountsIn(`93 92 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
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
