package seccomp

import (
	"encoding/binary"
	"testing"
)

const sample = `{"defaultAction":"SCMP_ACT_ERRNO","defaultErrnoRet":1,"architectures":["SCMP_ARCH_X86_64","SCMP_ARCH_X86","SCMP_ARCH_X32"],
"syscalls":[{"names":["read","write","close","getpid"],"action":"SCMP_ACT_ALLOW"},
{"names":["clone"],"action":"SCMP_ACT_ALLOW","args":[{"index":0,"value":2114060288,"valueTwo":0,"op":"SCMP_CMP_MASKED_EQ"}]},
{"names":["clone3"],"action":"SCMP_ACT_ERRNO","errnoRet":38},
{"names":["socket"],"action":"SCMP_ACT_ALLOW","args":[{"index":0,"value":40,"op":"SCMP_CMP_NE"}]},
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
		name             string
		arch, number     uint32
		argument, answer uint32
	}{
		{"read", amd64, 0, 0, retAllow}, {"write", amd64, 1, 0, retAllow}, {"open", amd64, 2, 0, perm},
		{"close", amd64, 3, 0, retAllow}, {"getpid", amd64, 39, 0, retAllow}, {"sendfile", amd64, 40, 0, perm},
		{"mount", amd64, 165, 0, perm}, {"a call of the future", amd64, 999, 0, perm},
		{"read of x32", amd64, 0x4000_0000, 0, perm}, {"getpid of x32", amd64, 0x4000_0000 + 39, 0, perm},
		{"fork", amd64, 56, 17, retAllow}, {"a thread", amd64, 56, 0x3d0f00, retAllow},
		{"a user namespace", amd64, 56, 0x10000000 | 17, perm}, {"a network namespace", amd64, 56, 0x40000000, perm},
		{"clone3", amd64, 435, 0, nosys},
		{"an IPv4 socket", amd64, 41, 2, retAllow}, {"a vsock", amd64, 41, 40, perm},
		{"personality 0", amd64, 135, 0, retAllow}, {"personality 8", amd64, 135, 8, retAllow},
		{"personality 9", amd64, 135, 9, perm},
		{"read of 386", i386, 3, 0, retAllow}, {"getpid of 386", i386, 20, 0, retAllow}, {"fork of 386", i386, 2, 0, perm},
		{"another architecture", arm64, 63, 0, retKillProcess},
	} {
		if answer := run(t, filter, each.arch, each.number, each.argument); answer != each.answer {
			t.Errorf("%s: %#x instead of %#x", each.name, answer, each.answer)
		}
	}
}

func TestRefusesWhatItDoesNotKnow(t *testing.T) {
	for _, profile := range []string{
		`{"defaultAction":"SCMP_ACT_LOG"}`, `{`,
		`{"defaultAction":"SCMP_ACT_ERRNO","architectures":["SCMP_ARCH_X86_64"],"syscalls":[{"names":["read"],"action":"SCMP_ACT_ALLOW","args":[{"op":"SCMP_CMP_GT"}]}]}`,
		`{"defaultAction":"SCMP_ACT_ERRNO","architectures":["SCMP_ARCH_X86_64"],"syscalls":[{"names":["read"],"action":"SCMP_ACT_ALLOW"},{"names":["read"],"action":"SCMP_ACT_ERRNO"}]}`,
	} {
		if _, err := Compile([]byte(profile)); err == nil {
			t.Errorf("%s is taken", profile)
		}
	}
}

// run does what the kernel does with a filter.
func run(t *testing.T, filter []byte, arch, number, argument uint32) uint32 {
	var data [64]byte
	binary.NativeEndian.PutUint32(data[offsetNumber:], number)
	binary.NativeEndian.PutUint32(data[offsetArchitecture:], arch)
	binary.NativeEndian.PutUint32(data[offsetArguments:], argument)
	value := uint32(0)
	for at := 0; at < len(filter)/8; at++ {
		code := binary.NativeEndian.Uint16(filter[8*at:])
		jt, jf, k := int(filter[8*at+2]), int(filter[8*at+3]), binary.NativeEndian.Uint32(filter[8*at+4:])
		holds := false
		switch code {
		case loadWord:
			value = binary.NativeEndian.Uint32(data[k:])
			continue
		case and:
			value &= k
			continue
		case jumpAlways:
			at += int(k)
			continue
		case giveBack:
			return k
		case jumpEqual:
			holds = value == k
		case jumpAbove:
			holds = value > k
		case jumpNoLess:
			holds = value >= k
		default:
			t.Fatalf("unknown instruction %#x", code)
		}
		if holds {
			at += jt
		} else {
			at += jf
		}
	}
	t.Fatal("the filter ends without an answer")
	return 0
}
