// Package cgroup reads control groups in v1, hybrid and v2 layouts.
package cgroup

import (
	"os"
	"slices"
	"strconv"
	"strings"
)

const (
	// Unified is the key of the v2 hierarchy among the controllers.
	Unified = "unified"
	// UnifiedMount is where v2 is mounted if it owns the controllers.
	UnifiedMount = "/sys/fs/cgroup"
)

// Unknown marks a value that this kernel does not count.
const Unknown = -1

// Mounts maps each controller (or Unified) to its mount point, and returns the options of v2. The first mount of each
// is the system's own and counts; later ones belong to other software and may be stacked.
func Mounts(mountinfo string) (map[string]string, string) {
	found, options := map[string]string{}, ""
	note := func(name, point string) {
		if _, known := found[name]; !known {
			found[name] = point
		}
	}
	for line := range strings.Lines(mountinfo) {
		before, after, cut := strings.Cut(strings.TrimSpace(line), " - ")
		fields, tail := strings.Fields(before), strings.Fields(after)
		if !cut || len(fields) < 5 || len(tail) < 3 {
			continue
		}
		switch tail[0] {
		case "cgroup2":
			note(Unified, fields[4])
			options = tail[2] // the same for each of its mounts
		case "cgroup":
			for _, option := range strings.Split(tail[2], ",") {
				if slices.Contains([]string{"memory", "pids", "cpu", "cpuacct", "freezer"}, option) {
					note(option, fields[4])
				}
			}
		}
	}
	return found, options
}

// Group is one control group: a map of controller to directory, with only Unified on v2.
type Group map[string]string

// Own returns the group of a container as seen in its own mounts.
func Own() (Group, error) {
	content, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	mounts, _ := Mounts(string(content))
	if mounts[Unified] == UnifiedMount {
		return Group{Unified: UnifiedMount}, nil
	}
	delete(mounts, Unified) // in this layout it has no controllers
	return mounts, nil
}

// Usage is the resource usage of a group's processes since it was created. A value may be Unknown.
type Usage struct {
	CPUMicroseconds int64 `json:"cpu_us"`
	MemoryBytes     int64 `json:"memory_bytes"`
	Pids            int64 `json:"pids"`
	// OOMKills counts the processes that the kernel killed because of the group's memory limit.
	OOMKills int64 `json:"oom_kills"`
}

// Usage reads the counters of the group.
func (g Group) Usage() Usage {
	if _, isUnified := g[Unified]; isUnified {
		return Usage{
			CPUMicroseconds: g.Field(Unified, "cpu.stat", "usage_usec"),
			MemoryBytes:     g.number(Unified, "memory.current"),
			Pids:            g.number(Unified, "pids.current"),
			OOMKills:        g.OOMKills(),
		}
	}
	used := g.number("cpuacct", "cpuacct.usage")
	if used != Unknown {
		used /= 1000 // nanoseconds
	}
	return Usage{
		CPUMicroseconds: used,
		MemoryBytes:     g.number("memory", "memory.usage_in_bytes"),
		Pids:            g.number("pids", "pids.current"),
		OOMKills:        g.OOMKills(),
	}
}

// OOMKills counts the processes that the kernel killed because of the group's memory limit.
func (g Group) OOMKills() int64 {
	if _, isUnified := g[Unified]; isUnified {
		return g.Field(Unified, "memory.events", "oom_kill")
	}
	return g.Field("memory", "memory.oom_control", "oom_kill")
}

// Field reads the value of a line `NAME VALUE` in a file such as memory.events or cpu.stat.
func (g Group) Field(controller, file, name string) int64 {
	for line := range strings.Lines(g.read(controller, file)) {
		fields := strings.Fields(line)
		if len(fields) == 2 && fields[0] == name {
			return parse(fields[1])
		}
	}
	return Unknown
}

func (g Group) number(controller, file string) int64 {
	return parse(strings.TrimSpace(g.read(controller, file)))
}

// read returns an empty string for a missing file.
func (g Group) read(controller, file string) string {
	directory, found := g[controller]
	if !found {
		return ""
	}
	content, err := os.ReadFile(directory + "/" + file)
	if err != nil {
		return ""
	}
	return string(content)
}

func parse(text string) int64 {
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil || value < 0 {
		return Unknown
	}
	return value
}
