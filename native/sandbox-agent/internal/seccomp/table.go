package seccomp

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

// System call numbers for amd64 and arm64, one name per line, from the kernel's headers.
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

// architecture is a machine's native system call ABI.
type architecture struct {
	name   string
	audit  uint32
	column int
	// foreignFrom is the first number of another ABI with the same audit value (x32); 0 if there is none.
	foreignFrom uint32
}

// Native ABIs only: others number their calls differently, and pass some arguments in memory (socketcall, ipc), which a
// filter cannot read.
var architectures = []architecture{
	{name: "SCMP_ARCH_X86_64", audit: 0xc000003e, column: 0, foreignFrom: 0x4000_0000},
	{name: "SCMP_ARCH_AARCH64", audit: 0xc00000b7, column: 1},
}
