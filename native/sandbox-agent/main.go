// Command sandbox-agent is one static binary with two jobs, named by its first argument:
//
//	init   PID 1 inside a sandbox: processes, PTYs and files over one framed connection (PROTOCOL.md)
//	host   beside the platform, as root: the mounts, namespaces, cgroups and runtime calls of the local driver
//	unpack beside the platform, as root: one image layer from standard input into a folder
package main

import (
	"os"
	"runtime"

	"svc.dev/sandbox-agent/internal/agent"
	"svc.dev/sandbox-agent/internal/host"
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
		os.Exit(agent.Run())
	case "host":
		os.Exit(host.Run(os.Args[2:]))
	case "unpack":
		os.Exit(unpack.Run(os.Args[2:]))
	default:
		os.Stderr.WriteString("usage: sandbox-agent init | host --run DIR | unpack FOLDER MAX-BYTES MAX-ENTRIES\n")
		os.Exit(2)
	}
}
