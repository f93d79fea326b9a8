#include "go_asm.h"
#include "textflag.h"

#define PRCTL 157
#define UNSHARE 272

// The stack begins with the number of arguments and their addresses. Only `NAME init --boot` is ours.
TEXT ·entry(SB), NOSPLIT|NOFRAME|TOPFRAME, $0-0
	CMPQ 0(SP), $3
	JNE runtime
	MOVQ 16(SP), BX
	CMPL 0(BX), $0x74696e69 // init
	JNE runtime
	CMPB 4(BX), $0
	JNE runtime
	MOVQ 24(SP), BX
	CMPL 0(BX), $0x6f622d2d // --bo
	JNE runtime
	CMPL 3(BX), $0x00746f6f // oot
	JNE runtime
	MOVL $const_mayKeep, R13
	XORL R12, R12
drop:
	BTQ R12, R13
	JCS next
	MOVL $PRCTL, AX
	MOVL $const_prCapbsetDrop, DI
	MOVQ R12, SI
	XORL DX, DX
	XORL R10, R10
	XORL R8, R8
	SYSCALL
next:
	INCQ R12
	CMPQ R12, $const_maxCapability
	JLE drop
	MOVL $PRCTL, AX
	MOVL $const_prCapAmbient, DI
	MOVL $const_ambientClearAll, SI
	SYSCALL
	TESTQ AX, AX
	JNE runtime
	MOVL $PRCTL, AX
	MOVL $const_prSetNoNewPrivs, DI
	MOVL $1, SI
	SYSCALL
	TESTQ AX, AX
	JNE runtime
	MOVL $UNSHARE, AX
	MOVL $const_cloneNewCgroup, DI
	SYSCALL
	TESTQ AX, AX
	JNE runtime
	MOVB $1, ·entered(SB)
runtime:
	JMP _rt0_amd64_linux(SB)
