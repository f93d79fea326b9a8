// Package seccomp compiles the `linux.seccomp` part of an OCI configuration to a kernel filter, for the actions and
// comparisons that the platform's profile uses. Anything else is rejected, never ignored.
package seccomp

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"slices"
)

const (
	retAllow       = 0x7fff0000
	retErrno       = 0x00050000
	retKillProcess = 0x80000000

	loadWord   = 0x20 // BPF_LD | BPF_W | BPF_ABS
	jumpEqual  = 0x15 // BPF_JMP | BPF_JEQ | BPF_K
	jumpAbove  = 0x25 // BPF_JMP | BPF_JGT | BPF_K
	jumpNoLess = 0x35 // BPF_JMP | BPF_JGE | BPF_K
	and        = 0x54 // BPF_ALU | BPF_AND | BPF_K
	giveBack   = 0x06 // BPF_RET | BPF_K
	jumpAlways = 0x05 // BPF_JMP | BPF_JA

	offsetNumber, offsetArchitecture, offsetArguments = 0, 4, 16

	maxInstructions = 4096
	maxNumber       = 1023 // above every number in the table
	ePerm           = 1
	eNosys          = 38
)

type profile struct {
	DefaultAction   string   `json:"defaultAction"`
	DefaultErrnoRet *uint32  `json:"defaultErrnoRet"`
	Architectures   []string `json:"architectures"`
	Syscalls        []rule   `json:"syscalls"`
}

type rule struct {
	Names    []string   `json:"names"`
	Action   string     `json:"action"`
	ErrnoRet *uint32    `json:"errnoRet"`
	Args     []argument `json:"args"`
}

type argument struct {
	Index    uint32 `json:"index"`
	Value    uint64 `json:"value"`
	ValueTwo uint64 `json:"valueTwo"`
	Op       string `json:"op"`
}

type instruction struct {
	code   uint16
	jt, jf uint8
	k      uint32
}

// Compile returns the filter as an array of struct sock_filter. Only the lower 32 bits of arguments are compared, since
// the kernel ignores the others for the arguments that the profile names.
func Compile(config []byte) ([]byte, error) {
	p, err := parse(config)
	if err != nil {
		return nil, err
	}
	otherwise, err := actionOf(p.DefaultAction, p.DefaultErrnoRet)
	if err != nil {
		return nil, err
	}
	program := []instruction{{code: loadWord, k: offsetArchitecture}}
	for _, arch := range architectures {
		if !slices.Contains(p.Architectures, arch.name) {
			continue
		}
		block, err := p.blockOf(arch, otherwise)
		if err != nil {
			return nil, err
		}
		program = append(program, instruction{code: jumpEqual, jt: 1, k: arch.audit},
			instruction{code: jumpAlways, k: uint32(len(block))})
		program = append(program, block...)
	}
	program = append(program, instruction{code: giveBack, k: retKillProcess})
	if len(program) > maxInstructions {
		return nil, errors.New("the filter is too long")
	}
	return encode(program), nil
}

// parse rejects whatever the filter would silently ignore: unknown fields, calls, architectures and comparisons.
func parse(config []byte) (*profile, error) {
	var p profile
	decoder := json.NewDecoder(bytes.NewReader(config))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&p); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errors.New("data after the profile")
	}
	for _, name := range p.Architectures {
		if !slices.ContainsFunc(architectures, func(each architecture) bool { return each.name == name }) {
			return nil, errors.New("unknown architecture " + name)
		}
	}
	for _, each := range p.Syscalls {
		if len(each.Names) == 0 {
			return nil, errors.New("a rule names no system call")
		}
		for _, name := range each.Names {
			if _, known := table()[name]; !known {
				return nil, errors.New("unknown system call " + name)
			}
		}
		if _, err := compareAll(each.Args); err != nil {
			return nil, err
		}
	}
	return &p, nil
}

// blockOf decides the calls of one architecture; every path returns an action.
func (p *profile) blockOf(arch architecture, otherwise uint32) ([]instruction, error) {
	always, conditional, order := []int{}, map[int][]rule{}, []int{}
	for _, each := range p.Syscalls {
		action, err := actionOf(each.Action, each.ErrnoRet)
		if err != nil {
			return nil, err
		}
		for _, name := range each.Names {
			entry, known := table()[name]
			if !known || entry[arch.column] < 0 {
				continue // does not exist on this architecture
			}
			number := entry[arch.column]
			if number >= maxNumber {
				return nil, errors.New("the number of " + name + " is too high")
			}
			if len(each.Args) == 0 && action == retAllow {
				always = append(always, number)
				continue
			}
			if _, listed := conditional[number]; !listed {
				order = append(order, number)
			}
			conditional[number] = append(conditional[number], each)
		}
	}
	block := []instruction{{code: loadWord, k: offsetNumber}}
	if arch.foreignFrom != 0 {
		block = append(block, instruction{code: jumpNoLess, jf: 1, k: arch.foreignFrom}, instruction{code: giveBack, k: retErrno | eNosys})
	}
	for _, number := range order {
		if slices.Contains(always, number) {
			return nil, errors.New("a system call is allowed both unconditionally and by its arguments")
		}
		judged, err := judge(conditional[number], otherwise)
		if err != nil {
			return nil, err
		}
		block = append(block, instruction{code: jumpEqual, jf: uint8(len(judged)), k: uint32(number)})
		block = append(block, judged...)
	}
	return append(block, ranges(always, otherwise)...), nil
}

// judge tries the rules of one call in order; the first match decides.
func judge(rules []rule, otherwise uint32) ([]instruction, error) {
	out := []instruction{}
	for _, each := range rules {
		action, err := actionOf(each.Action, each.ErrnoRet)
		if err != nil {
			return nil, err
		}
		tests, err := compareAll(each.Args)
		if err != nil {
			return nil, err
		}
		out = append(out, tests...)
		out = append(out, instruction{code: giveBack, k: action})
	}
	out = append(out, instruction{code: giveBack, k: otherwise})
	if len(out) > 255 {
		return nil, errors.New("a system call has too many rules")
	}
	return out, nil
}

// compareAll skips the next instruction unless every comparison holds.
func compareAll(arguments []argument) ([]instruction, error) {
	out := []instruction{}
	for index := len(arguments) - 1; index >= 0; index-- {
		test, err := compare(arguments[index], len(out)+1)
		if err != nil {
			return nil, err
		}
		out = append(test, out...)
	}
	return out, nil
}

// compare skips the given number of instructions unless the comparison holds.
func compare(a argument, skip int) ([]instruction, error) {
	if a.Index > 5 || a.Value > 0xffff_ffff || a.ValueTwo > 0xffff_ffff {
		return nil, errors.New("a rule compares a value that is not a 32-bit argument")
	}
	if skip > 255 {
		return nil, errors.New("a rule compares too many arguments")
	}
	load := instruction{code: loadWord, k: offsetArguments + 8*a.Index}
	switch a.Op {
	case "SCMP_CMP_EQ":
		return []instruction{load, {code: jumpEqual, jf: uint8(skip), k: uint32(a.Value)}}, nil
	case "SCMP_CMP_NE":
		return []instruction{load, {code: jumpEqual, jt: uint8(skip), k: uint32(a.Value)}}, nil
	case "SCMP_CMP_MASKED_EQ":
		return []instruction{load, {code: and, k: uint32(a.Value)}, {code: jumpEqual, jf: uint8(skip), k: uint32(a.ValueTwo)}}, nil
	}
	return nil, errors.New("unknown comparison " + a.Op)
}

// ranges allows the sorted numbers and decides gaps between them.
func ranges(allowed []int, otherwise uint32) []instruction {
	var isAllowed [maxNumber + 1]bool
	for _, number := range allowed {
		isAllowed[number] = true
	}
	out := []instruction{}
	for number := 0; number < maxNumber; number++ {
		if !isAllowed[number] {
			continue
		}
		first := number
		for isAllowed[number+1] {
			number++
		}
		out = append(out,
			instruction{code: jumpNoLess, jt: 1, k: uint32(first)}, instruction{code: giveBack, k: otherwise},
			instruction{code: jumpAbove, jt: 1, k: uint32(number)}, instruction{code: giveBack, k: retAllow})
	}
	return append(out, instruction{code: giveBack, k: otherwise})
}

func actionOf(name string, errno *uint32) (uint32, error) {
	switch name {
	case "SCMP_ACT_ALLOW":
		return retAllow, nil
	case "SCMP_ACT_ERRNO":
		if errno == nil {
			return retErrno | ePerm, nil
		}
		return retErrno | *errno&0xffff, nil
	}
	return 0, errors.New("unknown action " + name)
}

func encode(program []instruction) []byte {
	out := make([]byte, 0, 8*len(program))
	for _, each := range program {
		out = binary.NativeEndian.AppendUint16(out, each.code)
		out = append(out, each.jt, each.jf)
		out = binary.NativeEndian.AppendUint32(out, each.k)
	}
	return out
}
