package seccomp

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

// Numbers of system calls, one name a line, for amd64, 386, arm64 and arm; from the kernel's headers.
//
//go:embed syscalls.txt
var syscalls string

type numbers [4]int

var table = sync.OnceValue(func() map[string]numbers {
	found := map[string]numbers{}
	for line := range strings.Lines(syscalls) {
		fields := strings.Fields(line)
		if len(fields) != 5 || fields[0] == "#" {
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

// architecture is one way in which programs of a machine call the kernel.
type architecture struct {
	name   string
	audit  uint32
	column int
	// Numbers from here on are another ABI of the same audit value; 0 where there is none.
	foreignFrom uint32
}

var architectures = []architecture{
	{name: "SCMP_ARCH_X86_64", audit: 0xc000003e, column: 0, foreignFrom: 0x4000_0000},
	{name: "SCMP_ARCH_X86", audit: 0x40000003, column: 1},
	{name: "SCMP_ARCH_AARCH64", audit: 0xc00000b7, column: 2},
	{name: "SCMP_ARCH_ARM", audit: 0x40000028, column: 3},
}
