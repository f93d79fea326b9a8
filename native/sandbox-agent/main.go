// Command sandbox-agent is one static binary with several jobs, named by its first argument:
//
//	init    PID 1 inside a sandbox: processes, PTYs and files over one framed connection (PROTOCOL.md)
//	bridge  inside a sandbox, started by its engine: standard input and output as a connection to `init --bridged`
//	halt    inside a sandbox, started by its engine: ends every process but the helper
//	install beside a sandbox, in an init container: copies this program into a volume
//	probe   in a pod of its own: tries whether addresses are reached or blocked
//	host    beside the platform, as root: the mounts, namespaces, cgroups and runtime calls of the local driver
//	unpack  beside the platform, as root: one image layer from standard input into a folder
//	layer   beside the platform, as root: the changes on the disk of a stopped sandbox as one layer on standard output
//	pack    beside the platform: unpacked layers, the uppermost first, as one archive on standard output
package main

import (
	"os"
	"runtime"

	"svc.dev/sandbox-agent/internal/agent"
	"svc.dev/sandbox-agent/internal/boot"
	"svc.dev/sandbox-agent/internal/bridge"
	"svc.dev/sandbox-agent/internal/host"
	"svc.dev/sandbox-agent/internal/pack"
	"svc.dev/sandbox-agent/internal/unpack"
)

// The first thread stands for the process in /proc and cannot be thrown away: no work that changes its thread (name
// spaces, ids, control groups) may ever be done on it.
func init() { runtime.LockOSThread() }

func main() {
	job := ""
	if len(os.Args) > 1 {
		job = os.Args[1]
	}
	switch job {
	case "init":
		how := append(os.Args, "")[2]
		if how == "--boot" && !boot.Run() {
			os.Exit(1)
		}
		os.Exit(agent.Run(how == "--bridged"))
	case "bridge":
		os.Exit(bridge.Run())
	case "halt":
		os.Exit(agent.Halt(os.Args[2:]))
	case "install":
		os.Exit(agent.Install(os.Args[2:]))
	case "probe":
		os.Exit(agent.Probe(os.Args[2:]))
	case "host":
		os.Exit(host.Run(os.Args[2:]))
	case "unpack":
		os.Exit(unpack.Run(os.Args[2:]))
	case "layer":
		os.Exit(host.Layer(os.Args[2:]))
	case "pack":
		os.Exit(pack.Run(os.Args[2:]))
	default:
		os.Stderr.WriteString("usage: sandbox-agent init [--bridged | --boot] | bridge | halt GRACE-MS | install FILE | " +
			"probe reached|blocked SECONDS ADDRESS:PORT... | host --run DIR | " +
			"unpack FOLDER MAX-BYTES MAX-ENTRIES | layer DISK | pack LAYER...\n")
		os.Exit(2)
	}
}
