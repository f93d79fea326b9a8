#include "textflag.h"

// func int80(number, first, second uint32) uint32
TEXT ·int80(SB), NOSPLIT, $0-20
	MOVL number+0(FP), AX
	MOVL first+4(FP), BX
	MOVL second+8(FP), CX
	INT  $0x80
	MOVL AX, ret+16(FP)
	RET
