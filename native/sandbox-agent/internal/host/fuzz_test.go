package host

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"svc.dev/sandbox-agent/internal/boot"
)

const samplePlan = `{"id":1,"op":"start","sandbox":"sbx_one","plan":{"runtime_kind":"builtin","layers":["/l"],"disk":"/d","limits":{"memory_bytes":1,"pids":2,"cpu_millis":3},
"network":{"mode":"egress","network":"100.96.0.0","gateway":"100.96.0.1"},"uid_base":268435456,"uid_count":65536,
"config":{"hostname":"one","process":{"env":["PATH=/bin"],"cwd":"/","capabilities":{"bounding":["CAP_CHOWN"]}},
"mounts":[{"destination":"/proc","type":"proc","options":["nosuid"]},{"destination":"/.sandbox/agent","type":"bind"}],
"linux":{"maskedPaths":["/proc/keys"],"namespaces":[{"type":"pid"}],
"seccomp":{"defaultAction":"SCMP_ACT_ERRNO","architectures":["SCMP_ARCH_X86_64"],"syscalls":[{"names":["read"],"action":"SCMP_ACT_ALLOW"}]}}}}}`

// FuzzPlan checks that any request is parsed without a panic, and that the plans for a sandbox's first process and for
// an OCI runtime are complete: no mounts of the host, a seccomp filter, and the prepared namespaces.
func FuzzPlan(f *testing.F) {
	f.Add([]byte(samplePlan))
	f.Add([]byte(`{"op":"start","sandbox":"../x","plan":{"config":null}}`))
	f.Add([]byte(`{"op":"restrict","sandbox":"sbx_a","nft":"/x","rules":"table inet x"}`))
	f.Add([]byte(`{"op":"adjust","sandbox":"sbx_a","limits":{},"files":{"etc/hosts":"x"}}`))
	f.Add([]byte(`{"plan":{"config":{"linux":{"namespaces":7,"seccomp":{}},"mounts":null},"network":{"network":"1.2.3","gateway":"256.0.0.1"}}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		var r request
		if json.Unmarshal(line, &r) != nil || r.Plan == nil {
			return
		}
		if validID(r.Sandbox) && filepath.Base(r.Sandbox) != r.Sandbox {
			t.Fatalf("%q is accepted as an ID", r.Sandbox)
		}
		for _, text := range []string{r.Plan.Network.Network, r.Plan.Network.Gateway} {
			if address, err := parseAddress(text); err == nil && dotted(address) != text {
				t.Fatalf("%q is read as %s", text, dotted(address))
			}
		}
		checkBootPlan(t, r.Plan)
		checkBundle(t, r.Plan)
	})
}

func dotted(address [4]byte) string {
	parts := []string{}
	for _, each := range address {
		parts = append(parts, strconv.Itoa(int(each)))
	}
	return strings.Join(parts, ".")
}

func checkBootPlan(t *testing.T, p *plan) {
	content, err := (&host{}).bootPlan("/place", p)
	if err != nil {
		return
	}
	var given boot.Plan
	if err := json.Unmarshal(content, &given); err != nil {
		t.Fatal(err)
	}
	if given.Staging != "/place/rootfs" || len(given.Filter) == 0 || len(given.Filter)%8 != 0 {
		t.Fatalf("staging %q, %d bytes of filter", given.Staging, len(given.Filter))
	}
	for _, mount := range given.Mounts {
		if mount.Type == "bind" {
			t.Fatalf("%s of the host is passed on", mount.Destination)
		}
	}
}

func checkBundle(t *testing.T, p *plan) {
	folder := t.TempDir()
	user, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer user.Close()
	if writeConfig(folder, p, &namespaces{user: user, network: user}, 1<<28) != nil {
		return
	}
	content, err := os.ReadFile(folder + "/config.json")
	if err != nil {
		t.Fatal(err)
	}
	// By their exact names, as runtimes in C read them; Go also accepts names that differ in case.
	var written, linux, root map[string]json.RawMessage
	var namespaces []any
	var path string
	_ = json.Unmarshal(content, &written)
	_ = json.Unmarshal(written["linux"], &linux)
	_ = json.Unmarshal(written["root"], &root)
	_ = json.Unmarshal(linux["namespaces"], &namespaces)
	_ = json.Unmarshal(root["path"], &path)
	if path != folder+"/rootfs" || len(namespaces) < 2 {
		t.Fatalf("%s", content)
	}
}

// FuzzProcessStatus checks that /proc/PID/stat is parsed correctly for any program name.
func FuzzProcessStatus(f *testing.F) {
	f.Add("sh", uint64(1234))
	f.Add(") Z 1 (", uint64(1))
	f.Add("a) R 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 99 (b\n", uint64(1<<63))
	f.Fuzz(func(t *testing.T, name string, ticks uint64) {
		_, _ = startTicksIn(name)
		stat := "7 (" + name + ") S 1 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 " + strconv.FormatUint(ticks, 10) + " 1 2 3\n"
		if got, err := startTicksIn(stat); err != nil || got != ticks {
			t.Fatalf("got %d (%v), want %d", got, err, ticks)
		}
	})
}
