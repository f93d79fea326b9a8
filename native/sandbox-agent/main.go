// Command sandbox-agent is one static binary with several jobs, named by its first argument:
//
//	init    inside a sandbox, as PID 1: processes, PTYs and files over one framed connection (PROTOCOL.md)
//	bridge  inside a sandbox, started by its engine: connects standard input and output to `init --bridged|--limited`
//	halt    inside a sandbox, started by its engine: ends every process except the helper
//	install in an init container of a sandbox's pod: copies this program and the sandbox's limits into a volume
//	fill    in an init container of a sandbox's pod: copies the folders of the image to the sandbox's disk
//	probe   in a pod of its own: checks that addresses are reachable or blocked
//	host    next to the platform, as root: mounts, namespaces, cgroups and runtime calls of the local driver
//	unpack  next to the platform, as root: unpacks one image layer from standard input into a folder
//	layer   next to the platform, as root: writes the changes on a stopped sandbox's disk as one layer to standard output
//	pack    next to the platform: merges unpacked layers, topmost first, into one archive on standard output
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

// The main thread represents the process in /proc and cannot be discarded, so it must never run work that changes its
// thread (namespaces, IDs, control groups).
func init() { runtime.LockOSThread() }

func main() {
	job := ""
	if len(os.Args) > 1 {
		job = os.Args[1]
	}
	switch job {
	case "init":
		how := append(os.Args, "")[2]
		servesVolume := false
		if how == "--boot" {
			plan := boot.Run()
			if plan == nil {
				os.Exit(1)
			}
			servesVolume = plan.Root != ""
		}
		isLimited := how == "--limited"
		var folders []string
		if isLimited {
			folders = os.Args[3:]
		}
		os.Exit(agent.Run(agent.Options{Bridged: isLimited || how == "--bridged", Limited: isLimited, ServesVolume: servesVolume,
			DiskFolders: folders}))
	case "bridge":
		os.Exit(bridge.Run())
	case "halt":
		os.Exit(agent.Halt(os.Args[2:]))
	case "install":
		os.Exit(agent.Install(os.Args[2:]))
	case "fill":
		os.Exit(agent.Fill(os.Args[2:]))
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
		os.Stderr.WriteString("usage: sandbox-agent init [--bridged | --limited [FOLDER...] | --boot] | bridge | halt GRACE-MS | install FILE [LIMITS] | " +
			"fill DISK IMAGE FOLDER... | probe reached|blocked SECONDS ADDRESS:PORT... | host --run DIR | " +
			"unpack FOLDER MAX-BYTES MAX-ENTRIES | layer DISK | pack LAYER... | pack --alone LAYER\n")
		os.Exit(2)
	}
}
