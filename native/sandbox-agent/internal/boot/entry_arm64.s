#include "go_asm.h"
#include "textflag.h"

#define PRCTL 167
#define UNSHARE 97

// As for amd64.
TEXT ·entry(SB), NOSPLIT|NOFRAME|TOPFRAME, $0-0
	MOVD 0(RSP), R9
	CMP $3, R9
	BNE runtime
	MOVD 16(RSP), R9
	MOVWU 0(R9), R10
	MOVD $0x74696e69, R11 // init
	CMP R11, R10
	BNE runtime
	MOVBU 4(R9), R10
	CBNZ R10, runtime
	MOVD 24(RSP), R9
	MOVWU 0(R9), R10
	MOVD $0x6f622d2d, R11 // --bo
	CMP R11, R10
	BNE runtime
	MOVWU 3(R9), R10
	MOVD $0x00746f6f, R11 // oot
	CMP R11, R10
	BNE runtime
	MOVD $const_mayKeep, R13
	MOVD $0, R12
drop:
	LSR R12, R13, R10
	TBNZ $0, R10, next
	MOVD $const_prCapbsetDrop, R0
	MOVD R12, R1
	MOVD $0, R2
	MOVD $0, R3
	MOVD $0, R4
	MOVD $PRCTL, R8
	SVC
next:
	ADD $1, R12
	CMP $const_maxCapability, R12
	BLE drop
	MOVD $const_prCapAmbient, R0
	MOVD $const_ambientClearAll, R1
	MOVD $0, R2
	MOVD $0, R3
	MOVD $0, R4
	MOVD $PRCTL, R8
	SVC
	CBNZ R0, runtime
	MOVD $const_prSetNoNewPrivs, R0
	MOVD $1, R1
	MOVD $0, R2
	MOVD $0, R3
	MOVD $0, R4
	MOVD $PRCTL, R8
	SVC
	CBNZ R0, runtime
	MOVD $const_cloneNewCgroup, R0
	MOVD $UNSHARE, R8
	SVC
	CBNZ R0, runtime
	MOVD $1, R10
	MOVB R10, ·entered(SB)
runtime:
	B _rt0_arm64_linux(SB)
