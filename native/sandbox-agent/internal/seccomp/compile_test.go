package seccomp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"testing"
)

var none [6]uint64

const sample = `{"defaultAction":"SCMP_ACT_ERRNO","defaultErrnoRet":1,"architectures":["SCMP_ARCH_X86_64"],
"syscalls":[{"names":["read","write","close","getpid"],"action":"SCMP_ACT_ALLOW"},
{"names":["clone"],"action":"SCMP_ACT_ALLOW","args":[{"index":0,"value":2114060288,"valueTwo":0,"op":"SCMP_CMP_MASKED_EQ"}]},
{"names":["clone3"],"action":"SCMP_ACT_ERRNO","errnoRet":38},
{"names":["socket"],"action":"SCMP_ACT_ALLOW","args":[{"index":0,"value":2,"op":"SCMP_CMP_EQ"}]},
{"names":["socket"],"action":"SCMP_ACT_ALLOW","args":[{"index":0,"value":16,"op":"SCMP_CMP_EQ"},{"index":2,"value":0,"op":"SCMP_CMP_EQ"}]},
{"names":["fcntl"],"action":"SCMP_ACT_ALLOW","args":[{"index":1,"value":40,"op":"SCMP_CMP_NE"}]},
{"names":["personality"],"action":"SCMP_ACT_ALLOW","args":[{"index":0,"value":0,"op":"SCMP_CMP_EQ"}]},
{"names":["personality"],"action":"SCMP_ACT_ALLOW","args":[{"index":0,"value":8,"op":"SCMP_CMP_EQ"}]}]}`

func TestJudgesEachCallAsTheProfileSays(t *testing.T) {
	filter, err := Compile([]byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	const amd64, i386, arm64 = 0xc000003e, 0x40000003, 0xc00000b7
	const perm, nosys = retErrno | 1, retErrno | 38
	for _, each := range []struct {
		name         string
		arch, number uint32
		arguments    [6]uint64
		answer       uint32
	}{
		{"read", amd64, 0, none, retAllow}, {"write", amd64, 1, none, retAllow}, {"open", amd64, 2, none, perm},
		{"close", amd64, 3, none, retAllow}, {"getpid", amd64, 39, none, retAllow}, {"sendfile", amd64, 40, none, perm},
		{"mount", amd64, 165, none, perm}, {"a call of the future", amd64, 999, none, perm},
		{"read of x32", amd64, 0x4000_0000, none, nosys}, {"getpid of x32", amd64, 0x4000_0000 + 39, none, nosys},
		{"fork", amd64, 56, [6]uint64{17}, retAllow}, {"a thread", amd64, 56, [6]uint64{0x3d0f00}, retAllow},
		{"a user namespace", amd64, 56, [6]uint64{0x10000000 | 17}, perm}, {"a network namespace", amd64, 56, [6]uint64{0x40000000}, perm},
		{"clone3", amd64, 435, none, nosys},
		{"an IPv4 socket", amd64, 41, [6]uint64{2, 1, 6}, retAllow}, {"a vsock", amd64, 41, [6]uint64{40, 1}, perm},
		{"a vsock with more bits than the kernel takes", amd64, 41, [6]uint64{1<<32 | 40, 1}, perm},
		{"netlink of routes", amd64, 41, [6]uint64{16, 3, 0}, retAllow}, {"netlink of netfilter", amd64, 41, [6]uint64{16, 3, 12}, perm},
		{"a command of fcntl", amd64, 72, [6]uint64{40, 39}, retAllow}, {"another one", amd64, 72, [6]uint64{39, 40}, perm},
		{"personality 0", amd64, 135, none, retAllow}, {"personality 8", amd64, 135, [6]uint64{8}, retAllow},
		{"personality 9", amd64, 135, [6]uint64{9}, perm},
		{"read of 386", i386, 3, none, retKillProcess}, {"socketcall of 386", i386, 102, [6]uint64{1}, retKillProcess},
		{"another architecture", arm64, 63, none, retKillProcess},
	} {
		if answer, err := run(filter, each.arch, each.number, each.arguments); err != nil || answer != each.answer {
			t.Errorf("%s: got %#x, want %#x (%v)", each.name, answer, each.answer, err)
		}
	}
}

func TestRefusesWhatItDoesNotKnow(t *testing.T) {
	for _, profile := range []string{
		`{"defaultAction":"SCMP_ACT_LOG"}`, `{`,
		`{"defaultAction":"SCMP_ACT_ERRNO","architectures":["SCMP_ARCH_X86_64","SCMP_ARCH_X86"]}`,
		`{"defaultAction":"SCMP_ACT_ERRNO","syscalls":[{"named":["read"],"action":"SCMP_ACT_ERRNO"}]}`,
		`{"defaultAction":"SCMP_ACT_ERRNO","syscalls":[{"names":[],"action":"SCMP_ACT_ERRNO"}]}`,
		`{"defaultAction":"SCMP_ACT_ERRNO","syscalls":[{"names":["socketcall"],"action":"SCMP_ACT_ERRNO"}]}`,
		`{"defaultAction":"SCMP_ACT_ERRNO","syscalls":[{"names":["read"],"action":"SCMP_ACT_ALLOW","args":[{"index":16,"op":"SCMP_CMP_EQ"}]}]}`,
		`{"defaultAction":"SCMP_ACT_ERRNO","architectures":["SCMP_ARCH_X86_64"],"syscalls":[{"names":["read"],"action":"SCMP_ACT_ALLOW","args":[{"op":"SCMP_CMP_GT"}]}]}`,
		`{"defaultAction":"SCMP_ACT_ERRNO","architectures":["SCMP_ARCH_X86_64"],"syscalls":[{"names":["read"],"action":"SCMP_ACT_ALLOW"},{"names":["read"],"action":"SCMP_ACT_ERRNO"}]}`,
	} {
		if _, err := Compile([]byte(profile)); err == nil {
			t.Errorf("%s is accepted", profile)
		}
	}
}

// run interprets a filter as the kernel does, and fails where the kernel would reject it.
func run(filter []byte, arch, number uint32, arguments [6]uint64) (uint32, error) {
	var data [64]byte
	binary.NativeEndian.PutUint32(data[offsetNumber:], number)
	binary.NativeEndian.PutUint32(data[offsetArchitecture:], arch)
	for index, each := range arguments {
		binary.LittleEndian.PutUint64(data[offsetArguments+8*index:], each)
	}
	value := uint32(0)
	for at := 0; at < len(filter)/8; at++ {
		code := binary.NativeEndian.Uint16(filter[8*at:])
		jt, jf, k := int(filter[8*at+2]), int(filter[8*at+3]), binary.NativeEndian.Uint32(filter[8*at+4:])
		holds := false
		switch code {
		case loadWord:
			if k%4 != 0 || k > 60 {
				return 0, fmt.Errorf("the filter reads at %d", k)
			}
			value = binary.NativeEndian.Uint32(data[k:])
			continue
		case and:
			value &= k
			continue
		case jumpAlways:
			at += int(k)
			continue
		case giveBack:
			return k, nil
		case jumpEqual:
			holds = value == k
		case jumpAbove:
			holds = value > k
		case jumpNoLess:
			holds = value >= k
		default:
			return 0, fmt.Errorf("unknown instruction %#x", code)
		}
		if holds {
			at += jt
		} else {
			at += jf
		}
	}
	return 0, errors.New("the filter ends without a result")
}
