package seccomp

import (
	"encoding/json"
	"slices"
	"testing"
)

// FuzzCompile checks that the filter of every accepted profile decides any call as the profile says.
func FuzzCompile(f *testing.F) {
	for _, number := range []uint32{0, 41, 56, 135, 435, 0x4000_0027} {
		f.Add([]byte(sample), byte(0), number, uint64(2), uint64(0), uint64(0))
	}
	f.Add([]byte(sample), byte(0), uint32(41), uint64(1<<32|40), uint64(1), uint64(0))
	f.Add([]byte(sample), byte(1), uint32(63), uint64(0), uint64(0), uint64(0))
	f.Add([]byte(`{"defaultAction":"SCMP_ACT_ALLOW","architectures":["SCMP_ARCH_AARCH64","SCMP_ARCH_X86_64"],"syscalls":[
{"names":["write"],"action":"SCMP_ACT_ERRNO","errnoRet":70000,"args":[{"index":2,"value":8,"op":"SCMP_CMP_NE"},{"index":1,"value":6,"valueTwo":2,"op":"SCMP_CMP_MASKED_EQ"}]},
{"names":["write"],"action":"SCMP_ACT_ERRNO"}]}`), byte(1), uint32(64), uint64(0), uint64(2), uint64(9))
	f.Fuzz(func(t *testing.T, config []byte, which byte, number uint32, first, second, third uint64) {
		filter, err := Compile(config)
		if err != nil {
			return
		}
		arguments := [6]uint64{first, second, third}
		var p profile
		if err := json.Unmarshal(config, &p); err != nil {
			t.Fatal(err)
		}
		arch := architecture{name: "SCMP_ARCH_X86", audit: 0x40000003}
		if int(which) < len(architectures) {
			arch = architectures[which]
		}
		got, err := run(filter, arch.audit, number, arguments)
		if want := decide(t, &p, arch, number, arguments); err != nil || got != want {
			t.Fatalf("%s %d %v: got %#x, want %#x (%v)", arch.name, number, arguments, got, want, err)
		}
	})
}

// decide evaluates the profile itself, rule by rule.
func decide(t *testing.T, p *profile, arch architecture, number uint32, arguments [6]uint64) uint32 {
	if !slices.Contains(p.Architectures, arch.name) {
		return retKillProcess
	}
	if arch.foreignFrom != 0 && number >= arch.foreignFrom {
		return retErrno | eNosys
	}
	for _, each := range p.Syscalls {
		named := slices.ContainsFunc(each.Names, func(name string) bool {
			entry, known := table()[name]
			return known && entry[arch.column] >= 0 && uint32(entry[arch.column]) == number
		})
		holds := !slices.ContainsFunc(each.Args, func(a argument) bool {
			value := uint64(uint32(arguments[a.Index]))
			switch a.Op {
			case "SCMP_CMP_EQ":
				return value != a.Value
			case "SCMP_CMP_NE":
				return value == a.Value
			}
			return value&a.Value != a.ValueTwo
		})
		if named && holds {
			return answer(t, each.Action, each.ErrnoRet)
		}
	}
	return answer(t, p.DefaultAction, p.DefaultErrnoRet)
}

func answer(t *testing.T, action string, errno *uint32) uint32 {
	code, err := actionOf(action, errno)
	if err != nil {
		t.Fatal(err)
	}
	return code
}
