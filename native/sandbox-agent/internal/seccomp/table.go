package seccomp

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

// Numbers of system calls, one name a line, for amd64 and arm64; from the kernel's headers.
//
//go:embed syscalls.txt
var syscalls string

type numbers [2]int

var table = sync.OnceValue(func() map[string]numbers {
	found := map[string]numbers{}
	for line := range strings.Lines(syscalls) {
		fields := strings.Fields(line)
		if len(fields) != 3 || fields[0] == "#" {
			continue
		}
		var entry numbers
		for index, field := range fields[1:] {
			value, err := strconv.Atoi(field)
			if err != nil {
				value = -1
			}
			entry[index] = value
		}
		found[fields[0]] = entry
	}
	return found
})

// architecture is the native way in which programs of a machine call the kernel.
type architecture struct {
	name   string
	audit  uint32
	column int
	// Numbers from here on are another ABI of the same audit value (x32); 0 where there is none.
	foreignFrom uint32
}

// Only native ones: a program of another architecture numbers its calls differently, and packs the arguments of some of them
// in memory (socketcall, ipc), where a filter cannot look.
var architectures = []architecture{
	{name: "SCMP_ARCH_X86_64", audit: 0xc000003e, column: 0, foreignFrom: 0x4000_0000},
	{name: "SCMP_ARCH_AARCH64", audit: 0xc00000b7, column: 1},
}
